"""The compiled time step: flat buffers of numbers, tables of offsets into them, plain loops.

The modules here are the physics: bodies, ports, rows, tangents, Newton's method, steps. `machine` has the low-level parts.
"""
