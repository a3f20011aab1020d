"""Export to LiteRT (formerly TensorFlow Lite), a small runtime for small machines."""

import os
from typing import Literal

import tensorflow as tf

from bytenet.decoding.export.preparation import check_exportable, target_limits
from bytenet.decoding.search import SearchResult
from bytenet.decoding.translator import Translator
from bytenet.errors import InputError
from bytenet.files import atomic_path

Precision = Literal["float32", "float16", "int8"]


def export_litert(translator: Translator, path: str | os.PathLike[str], precision: Precision = "float32") -> None:
    """Save the search of a translator as a `.tflite` file, see `litert_model`."""
    content = litert_model(translator, precision)
    with atomic_path(path) as partial:
        partial.write_bytes(content)


def litert_model(translator: Translator, precision: Precision = "float32") -> bytes:
    """Convert the search of a translator, with builtin operations only.

    The model has one signature, `serving_default`. It takes one sentence: `source_ids`, int32 `(1, length)` of any
    length, with the end symbol; and `n_best`, an int32 scalar from 1 to the beam size. Its results are those of
    `SearchResult`. (LiteRT takes about 32 times as long for 32 sentences as for one. So a batch would gain nothing.)

    Args:
        translator: see `check_exportable`.
        precision: of the weights in the file. "int8" also rounds the inputs of matrix products when the model runs.

    Raises:
        InputError: the model computes in mixed precision, or has an operation that LiteRT does not have.
    """
    check_exportable(translator)
    if translator.model.compute_dtype != "float32":
        raise InputError(
            f"LiteRT models compute in float32, but this model in {translator.model.compute_dtype}. Export it as a "
            ".bytenet file with --engine full, whose model computes in float32, and then export that file."
        )
    graph = _SearchGraph(translator)
    function = graph.translate.get_concrete_function()
    converter = tf.lite.TFLiteConverter.from_concrete_functions([function], graph)
    converter.target_spec.supported_ops = [tf.lite.OpsSet.TFLITE_BUILTINS]
    if precision != "float32":
        converter.optimizations = [tf.lite.Optimize.DEFAULT]
    if precision == "float16":
        converter.target_spec.supported_types = [tf.float16]
    try:
        return converter.convert()
    except Exception as error:  # the converter's own class of errors is not public
        reason = next((line.strip() for line in str(error).splitlines() if "error:" in line), str(error)[:300])
        raise InputError(
            f"This {translator.model.config.kind} cannot become a LiteRT model: {reason}. Export it with --format "
            "saved-model, or as a .bytenet file with --engine full."
        ) from error


class _SearchGraph(tf.Module):
    """The search for one sentence. See `litert_model`."""

    def __init__(self, translator: Translator):
        super().__init__()
        model = translator.model
        self.model_variables = [variable.value for variable in model.variables]
        self._translator = translator

    @tf.function(
        input_signature=[
            tf.TensorSpec([1, None], tf.int32, name="source_ids"),
            tf.TensorSpec([], tf.int32, name="n_best"),
        ],
        autograph=False,
    )
    def translate(self, source_ids, n_best):
        limit = target_limits(self._translator, tf.shape(source_ids)[1])
        result = self._translator.search().in_graph(source_ids, limit, limit[None], n_best)
        # With a beam of one there is one hypothesis, and `n_best` would not be an input of the graph.
        return SearchResult(*(values[:, :n_best] for values in result))._asdict()
