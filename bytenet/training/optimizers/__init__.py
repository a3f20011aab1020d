"""Optimisers and their learning rates. Schedules run on every Keras backend, optimisers only on TensorFlow."""
