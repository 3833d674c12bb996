"""Plates: Kirchhoff and Mindlin, laminates."""
