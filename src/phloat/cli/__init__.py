"""The command line: phloat run model.yaml. Nothing heavy is imported before a command needs it."""
