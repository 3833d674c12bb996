"""The step once more in JAX: ensembles on accelerators, gradients of runs.

`exported` makes the arrays of a `System`; everything else here needs no more than NumPy and JAX, so that a machine with nothing
else can run it.
"""
