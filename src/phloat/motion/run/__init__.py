"""A run: its task, the driver, events, outputs."""
