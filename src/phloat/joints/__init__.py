"""Joints: rows between two ports, and the pairs made of them."""
