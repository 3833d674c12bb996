"""Simulation of linear systems."""
