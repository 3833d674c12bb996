"""The format of model files: kinds of values, derived from the dataclasses that they become."""
