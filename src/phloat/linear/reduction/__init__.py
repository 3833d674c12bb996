"""Model order reduction of linear systems by projection on a basis."""
