"""Translation without TensorFlow and Keras, with a `.bytenet` file, LiteRT and NumPy.

This package imports nothing else of `bytenet` but its errors. The distribution `bytenet-lite` consists of it. (The
whole package reads and writes the same files, and imports what is common from here.)
"""

from bytenet.lite.translation import Translation
from bytenet.lite.translator import Translator

__all__ = ["Translation", "Translator"]
