"""Vectors, rotations, sparse matrices: what everything else is written in."""
