"""Straight beams."""
