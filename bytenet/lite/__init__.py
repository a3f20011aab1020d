"""Translation without TensorFlow and Keras, with a `.bytenet` file, LiteRT and NumPy.

From the rest of `bytenet`, this package imports only the errors. The distribution `bytenet-lite` has this package, the
errors and the pretrained models. It splits lines into sentences if the library sentencex is installed. (The whole
package reads and writes the same files, and imports the common code from here.)
"""

from bytenet.lite.translation import Translation
from bytenet.lite.translator import Translator

__all__ = ["Translation", "Translator"]
