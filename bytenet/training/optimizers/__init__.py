"""Optimisers and their learning rates. Schedules run on every Keras backend, `FlatAdam` on TensorFlow."""
