"""The compiled time step: flat buffers of numbers, tables of where they stand, plain loops."""
