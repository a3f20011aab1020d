"""Training on several devices of one machine, or on several machines, that share each batch."""
