"""Saved arrays, models, scores and environments. Descriptions and sizes are checked before anything is allocated."""
