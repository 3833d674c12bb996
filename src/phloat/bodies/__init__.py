"""Recipes of bodies, and the one value they all become."""
