"""Models that are ready for `fit`: with optimiser, loss and metrics, traced or compiled."""
