"""Time: speed of training, and profiles."""
