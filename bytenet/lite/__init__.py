"""Translation without TensorFlow and Keras, with a `.bytenet` file, LiteRT and NumPy.

From the rest of `bytenet`, this package imports only the errors. The distribution `bytenet-lite` has this package, the
errors and the pretrained models. It splits lines into sentences if the library sentencex is installed. (The whole
package reads and writes the same files, and imports the common code from here.)
"""

from typing import TYPE_CHECKING

from bytenet.lite.translation import Translation

if TYPE_CHECKING:
    from bytenet.lite.translator import Translator

__all__ = ["Translation", "Translator"]


def __getattr__(name: str):
    # The commands do not need NumPy for their help and their messages.
    if name == "Translator":
        from bytenet.lite.translator import Translator

        return Translator
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
