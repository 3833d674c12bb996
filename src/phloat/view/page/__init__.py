"""The result page: one HTML file with data, scripts and style, which a browser shows without a network."""
