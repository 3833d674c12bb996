"""Finite-element spaces."""
