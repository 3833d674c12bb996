"""Solids and sheets: elasticity in three and two dimensions."""
