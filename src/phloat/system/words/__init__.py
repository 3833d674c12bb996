"""The words of model files: what each recipe is called there, with its keys, their units and defaults."""
