"""What several figures share: texts, curves and the style of the pictures."""
