"""Ready-made settings: a YAML file for each preset, in a folder for each corpus, and a folder for presets by size.

A folder `measured` beside them has what trainings with these presets reached.
"""
