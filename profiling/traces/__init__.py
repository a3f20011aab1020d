"""Traces of real training and decoding: captured, read, summed up by the parts of the model, drawn."""
