"""Training: losses, optimiser, checkpoints, callbacks, and the run that ties them together."""

from bytenet.training.trainer import train

__all__ = ["train"]
