"""Export to LiteRT (formerly TensorFlow Lite), a small runtime for small machines."""

import os
import tempfile
from collections.abc import Callable
from contextlib import suppress
from typing import Literal

import numpy as np
import tensorflow as tf

from bytenet.datasets import EOS_ID
from bytenet.decoding.export.preparation import check_exportable, check_no_reranker, target_limits
from bytenet.decoding.scoring import stepped_log_probabilities, teacher_forced_log_probabilities
from bytenet.decoding.searches.search import SearchResult
from bytenet.decoding.translator import Translator
from bytenet.errors import InputError
from bytenet.files import atomic_path
from bytenet.models import Ensemble
from bytenet.models.recurrent import RecurrentTranslator

Precision = Literal["float32", "float16", "int8"]


def export_litert(translator: Translator, path: str | os.PathLike[str], precision: Precision = "float32") -> None:
    """Save the search of a translator as a `.tflite` file, see `litert_model`.

    Raises:
        InputError: as for `litert_model`; or the translator has a reranker.
    """
    check_no_reranker(translator)
    content = litert_model(translator, precision)
    with atomic_path(path) as partial:
        partial.write_bytes(content)


def litert_model(translator: Translator, precision: Precision = "float32") -> bytes:
    """Convert the search of a translator, with builtin operations only.

    The signature `serving_default` translates one sentence: `source_ids`, int32 `(1, length)` of any length, with the
    end symbol; and `n_best`, an int32 scalar from 1 to the beam size. Its results are those of `SearchResult`. (LiteRT
    takes about 32 times as long for 32 sentences as for one. So a batch would gain nothing.)

    Args:
        translator: see `check_exportable`.
        precision: of the weights in the file. "int8" also rounds the inputs of matrix products when the model runs.

    Raises:
        InputError: the translator cannot be exported, see `check_exportable`; the model computes in mixed precision, or
            has an operation that LiteRT does not have.
    """
    graphs = _Graphs(translator)
    return _converted(graphs, {"serving_default": graphs.translate}, precision)


def litert_model_with_score(translator: Translator, precision: Precision = "float32") -> bytes:
    """Convert the search of a translator as `litert_model` does, and add the signature `score`.

    The signature `score` scores one translation: `source_ids` and `target_ids`, int32 `(1, length)`, with end symbols,
    and 0 where the shorter one is padded. Its result is `log_probabilities`, float32 `(1,)`, in nats. Recurrent models
    compute it by steps. The others compute all symbols at once, or by steps if LiteRT cannot do that. Computing them at
    once makes the file about a third larger, because some weights have another layout there.

    Raises:
        InputError: as for `litert_model`.
    """
    graphs = _Graphs(translator)

    def converted(log_probabilities: Callable) -> bytes:
        def score(source_ids, target_ids):
            inputs = {"source_ids": source_ids, "target_ids": target_ids}
            return {"log_probabilities": log_probabilities(translator.model, inputs)}

        signature = [tf.TensorSpec([1, None], tf.int32, name=f"{side}_ids") for side in ("source", "target")]
        function = tf.function(score, input_signature=signature, autograph=False)
        content = _converted(graphs, {"serving_default": graphs.translate, "score": function}, precision)
        _check_score(content)
        return content

    # A recurrent model computes symbol by symbol in any case. LiteRT cannot run the loop of most such models over a
    # whole sentence, but it can run their steps.
    if not isinstance(translator.model, RecurrentTranslator):
        with suppress(InputError):  # perhaps only the score cannot be converted
            return converted(teacher_forced_log_probabilities)
    return converted(stepped_log_probabilities)


def _converted(graphs: "_Graphs", signatures: dict[str, Callable], precision: Precision) -> bytes:
    """A LiteRT model with these signatures."""
    with tempfile.TemporaryDirectory(prefix="bytenet-litert-") as folder:
        tf.saved_model.save(graphs, folder, signatures)
        converter = tf.lite.TFLiteConverter.from_saved_model(folder, signature_keys=list(signatures))
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
                f"This {graphs.kind} cannot become a LiteRT model: {reason}. Export it with --format "
                "saved-model, or as a .bytenet file with --engine full."
            ) from error


def _check_score(content: bytes) -> None:
    """Raise an InputError if LiteRT cannot run the signature `score` of a model."""
    from ai_edge_litert.interpreter import Interpreter

    ids = np.array([[EOS_ID]], np.int32)
    try:
        Interpreter(model_content=content).get_signature_runner("score")(source_ids=ids, target_ids=ids)
    except (ValueError, RuntimeError) as error:
        raise InputError(
            f"LiteRT cannot score translations with this model: {error}. Export with --engine full."
        ) from error


class _Graphs(tf.Module):
    """The signatures of a LiteRT model. See `litert_model` and `litert_model_with_score`."""

    def __init__(self, translator: Translator):
        super().__init__()
        check_exportable(translator)
        model = translator.model
        members = model.members if isinstance(model, Ensemble) else [model]
        for precision in {member.compute_dtype for member in members} - {"float32"}:
            each = "each model of the ensemble" if len(members) > 1 else "it"
            raise InputError(
                f"LiteRT models compute in float32, but this model in {precision}. Export {each} as a .bytenet file "
                "with --engine full, whose model computes in float32, and then export that file."
            )
        self.kind = model.config.kind
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
        result = self._translator.batch_search.search().in_graph(source_ids, limit, limit[None], n_best)
        # With a beam of one there is one hypothesis, and `n_best` would not be an input of the graph.
        return SearchResult(*(values[:, :n_best] for values in result))._asdict()
