"""Export to a `.bytenet` file, which this package and `bytenet.lite` read."""

import json
import os
from typing import Literal

import numpy as np
from keras.ops import convert_to_numpy

from bytenet.config import Config, DataConfig
from bytenet.decoding.export.litert import Precision, litert_model_with_score
from bytenet.decoding.export.preparation import check_no_reranker
from bytenet.decoding.searches.forbidden_symbols import forbidden_symbols
from bytenet.decoding.translator import Translator
from bytenet.errors import InputError
from bytenet.files import atomic_path
from bytenet.lite.archive import CARD, LARGEST_NUMBER, LITE_MODEL, MOST_BYTES, SETTINGS, VOCABULARY, WEIGHTS, packed
from bytenet.lite.pretrained import pretrained_name, pretrained_path
from bytenet.lite.shared_weights import entries_with_shared_weights
from bytenet.model_file import ModelFile, has_readable_sizes, settings_of_file
from bytenet.models import Ensemble

Engines = Literal["both", "full", "lite"]


def export_model_file(
    translator: Translator,
    path: str | os.PathLike[str],
    precision: Precision = "float32",
    engines: Engines = "both",
    languages: tuple[str, str] = ("source", "target"),
    max_length: int = DataConfig.max_length,
    card: str | None = None,
) -> None:
    """Save a translator as one file.

    Args:
        translator: with one model. For LiteRT, see `check_exportable`. A reranker must be a pretrained model; the file
            has its name.
        path: of the file.
        precision: of the weights. With "int8", those for TensorFlow are in float16.
        engines: "full" for TensorFlow, "lite" for LiteRT, or "both".
        languages: the one that is read and the one that is written.
        max_length: most characters of a training sentence. Longer ones are split before they are translated.
        card: a text about the model, Markdown; None is a short one.

    Raises:
        InputError: the translator cannot be exported; LiteRT cannot rank with its reranker; the translator has a
            dictionary or forbidden symbols of its own; or the result is too large to be read.
        ValueError: `max_length` or a language is not allowed in `DataConfig`.
    """
    model, reranker = translator.model, translator.reranker
    if reranker is not None:
        _check_reranker(translator, reranker.name, engines)
    if isinstance(model, Ensemble):
        raise InputError("A .bytenet file has one model. Export the ensemble as a SavedModel or as a .tflite file.")
    _check_can_be_read(translator)
    data = DataConfig(source_language=languages[0], target_language=languages[1], max_length=max_length)
    config = Config(model=model.config, data=data, decoding=translator.decoding)
    lite_model = b"" if engines == "full" else litert_model_with_score(translator, precision)
    lite = {
        "beam_size": translator.decoding.beam_size,
        "longest": model.length_policy.longest,
        "precision": precision,
        "symbols": translator.vocabulary.size,
        "scores": True,  # some files of earlier versions have no `score`
    }
    settings = settings_of_file(
        config,
        None if translator.trained_lengths is None else list(translator.trained_lengths),
        None if engines == "full" else lite,
    )
    if card is None:
        card = f"# {model.config.kind}, {languages[0]} to {languages[1]}\n"
    entries = {
        SETTINGS: json.dumps(settings, indent=1).encode(),
        VOCABULARY: translator.vocabulary.to_json().encode(),
        CARD: card.encode(),
    }
    if engines == "both":
        entries |= entries_with_shared_weights(lite_model, _weights(translator, precision))
    elif engines == "lite":
        entries[LITE_MODEL] = lite_model
    else:
        entries[WEIGHTS] = _weights(translator, precision)
    content = packed(entries)
    largest = max(len(content), len(lite_model))
    if largest > MOST_BYTES:
        raise InputError(
            f"{path} or its LiteRT model would have {largest:,} bytes, but at most {MOST_BYTES:,} can be read. Export "
            "with --precision float16 or --engine full, or train a smaller model."
        )
    with atomic_path(path) as partial:
        partial.write_bytes(content)


def _check_reranker(translator: Translator, name: str, engines: Engines) -> None:
    """Check that every engine of a file can rank with the model of a name."""
    if pretrained_name(name) is None:
        check_no_reranker(translator)
    if engines != "full" and not ModelFile(pretrained_path(name)).scores_with_lite:
        raise InputError(
            f"LiteRT cannot rank with {name}: its file is in int8, has no LiteRT model, or was exported by an earlier "
            "version. Export with --engine full or --rerank-weight 0."
        )


def _check_can_be_read(translator: Translator) -> None:
    """Check that a reader of the file gets the same model and search.

    Raises:
        InputError: it does not, because of an argument that a file does not have, or because of a large setting.
    """
    model, vocabulary = translator.model, translator.vocabulary
    usual = forbidden_symbols(model.config, vocabulary, translator.decoding.replace_unknown)
    if translator.batch_search.forbidden_ids != usual:
        raise InputError("A .bytenet file has no forbidden_ids. Export a translator with the default ones.")
    if translator.finisher.dictionary:
        raise InputError("A .bytenet file has no dictionary. Export without one, and give it when you translate.")
    if not has_readable_sizes(model.config, len(model.weights)):
        raise InputError(
            f"A setting of the model is above {LARGEST_NUMBER:,}, which readers of .bytenet files refuse. Train with "
            "a smaller one, such as model.max_positions."
        )


def _weights(translator: Translator, precision: Precision) -> bytes:
    from safetensors.numpy import save

    dtype = np.float32 if precision == "float32" else np.float16
    weights = {variable.path: convert_to_numpy(variable).astype(dtype) for variable in translator.model.weights}
    for name, values in weights.items():
        if not np.isfinite(values).all():
            raise InputError(f"The weight {name} is no number, or too large for {precision}.")
    return save(weights)
