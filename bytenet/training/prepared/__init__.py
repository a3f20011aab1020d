"""Training where there is no TensorFlow: prepared with it, and fitted by Keras's own `fit` on any backend.

`preparation` makes the run folder and needs the whole package. `fitting` trains in it. It needs Keras with one backend
and the packages of `tests/contract/backends/requirements.txt`.
"""
