"""The command line, for instance phloat run model.yaml. Each command imports its modules when it is called."""
