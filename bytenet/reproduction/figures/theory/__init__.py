"""Theory: figures that are computed."""
