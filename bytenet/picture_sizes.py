"""Sizes that all pictures of pages share."""

WIDTH = 8.0
"""Inches. Pages show a picture of this width and `DPI` almost unscaled, so the text stays readable."""
DPI = 120
"""Pixels for an inch."""
SMALL = 9
"""Font size of legends and of values beside the axes, in points."""
