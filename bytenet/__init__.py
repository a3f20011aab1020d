"""Character-level neural machine translation with ByteNet, in TensorFlow and Keras.

Importing this package imports neither TensorFlow nor Keras; its subpackages do, where they need them.
"""

__version__ = "0.1.0"
