"""Inputs of a run over time: signals, driven joints, corners."""
