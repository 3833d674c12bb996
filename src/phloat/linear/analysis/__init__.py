"""Modes, poles, zeros and transfer functions of linear systems."""
