"""Export of a translator: text in, text out, in one folder or file."""

import os
from typing import get_args

from bytenet.config import DataConfig
from bytenet.decoding.export.litert import Precision, export_litert
from bytenet.decoding.export.model_file import Engines, export_model_file
from bytenet.decoding.export.saved_model import export_saved_model
from bytenet.decoding.translator import Translator
from bytenet.output_paths import check_file
from bytenet.saved.export_forms import Format, check_name, form_of, problem_of_arguments

__all__ = ["Engines", "Format", "Precision", "export"]


def export(
    translator: Translator,
    path: str | os.PathLike[str],
    form: Format | None = None,
    precision: Precision = "float32",
    engines: Engines = "both",
    jit_compile: bool = False,
    languages: tuple[str, str] | None = None,
    max_length: int | None = None,
    card: str | None = None,
) -> None:
    """Save a translator for other programs.

    Args:
        translator: its options of the search are part of the result.
        path: of the result.
        form: "saved-model" for a folder that TensorFlow reads, see `export_saved_model`; "litert" for a file with the
            search for one sentence of ids, see `litert_model`; "bytenet" for a file that `Translator.from_run` and
            `bytenet.lite` read, see `export_model_file`. None follows from the ending of `path`: `.bytenet`, `.tflite`,
            or no ending for a SavedModel.
        precision: of the weights in the two kinds of files.
        engines: for "bytenet".
        jit_compile: for "saved-model": compile the search with XLA when it runs.
        languages, max_length: for "bytenet". None is what the translator knows of its training data, and without it
            ("source", "target") and the default of `DataConfig`.
        card: for "bytenet".

    Raises:
        InputError: the translator cannot be exported, `path` cannot be written, or a model file does not end in
            `.bytenet`.
        ValueError: an argument has an unknown value, or is not for this form; or `max_length` or a language is not
            allowed in `DataConfig`.
    """
    form = form or form_of(path)
    check_name(path, form)
    for name, value, known in (
        ("form", form, Format),
        ("precision", precision, Precision),
        ("engines", engines, Engines),
    ):
        if value not in get_args(known):
            raise ValueError(f"{name} is {value!r}; expected {', '.join(get_args(known))}.")
    if problem := problem_of_arguments(form, precision, engines, jit_compile, languages, max_length, card):
        raise ValueError(problem)
    if form == "saved-model":
        export_saved_model(translator, path, jit_compile)
        return
    check_file(path)
    if form == "litert":
        export_litert(translator, path, precision)
    else:
        data = translator.data or DataConfig(source_language="source", target_language="target")
        languages = data.languages if languages is None else languages
        max_length = data.max_length if max_length is None else max_length
        export_model_file(translator, path, precision, engines, languages, max_length, card)
