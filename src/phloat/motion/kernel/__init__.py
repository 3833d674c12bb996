"""The compiled time step: flat buffers of numbers, tables of where they stand, plain loops.

The physics is here: bodies, ports, rows, tangents, Newton's method, steps. `machine` has what they run on.
"""
