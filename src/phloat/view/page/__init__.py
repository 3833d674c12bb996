"""The result page: one self-contained file that a browser shows offline."""
