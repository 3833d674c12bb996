"""Plots, films, the page for browsers, and the export to ParaView."""
