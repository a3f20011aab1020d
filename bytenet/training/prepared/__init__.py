"""Training on a machine without TensorFlow. Keras's own `fit` trains there, on any backend.

`preparation` makes the run folder and needs the whole package. `fitting` trains in it. It needs Keras with one backend
and the packages of `requirements-fit.txt`.
"""
