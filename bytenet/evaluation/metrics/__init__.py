"""Scores of translations, with their settings and intervals."""
