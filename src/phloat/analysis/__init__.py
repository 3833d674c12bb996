"""From a system at a state to a linear one."""
