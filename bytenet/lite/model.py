"""The LiteRT model of a `.bytenet` file, and what belongs to it."""

import os
import threading
from collections.abc import Mapping
from typing import Any

import numpy as np

from bytenet.errors import InputError, ModelError, shown
from bytenet.lite.archive import LARGEST_NUMBER, LITE_MODEL, SETTINGS, VOCABULARY, Archive
from bytenet.lite.characters import Characters
from bytenet.lite.languages import languages_of
from bytenet.lite.shared_weights import read_lite_model


class LiteModel:
    """A function of the LiteRT model in a `.bytenet` file. Several threads may use it; they take turns.

    Args:
        path: of the file.
        signature: name of the function, see `bytenet.decoding.export.litert`.
        inputs: its inputs.
        num_threads: processor cores for one call, at least 1.

    Raises:
        ValueError: `num_threads` is less than 1.
        MissingFileError: there is no such file.
        InputError: the file is damaged or has no such function, or the package `ai-edge-litert` is missing.

    Attributes:
        beam_size: number of hypotheses that the search keeps.
        longest: largest number of symbols of a line, with the end symbol, at least 2; None for no limit.
        languages: the languages that it reads and writes.
        max_length: most characters of a sentence of the training; a large number if the file does not say it.
        characters: the characters that the model knows.
    """

    def __init__(self, path: str | os.PathLike[str], signature: str, inputs: tuple[str, ...], num_threads: int):
        if num_threads < 1:
            raise ValueError(f"num_threads is {num_threads}; expected 1 or more.")
        archive = Archive(path)
        if LITE_MODEL not in archive:
            raise InputError(
                f"{path} was exported without a LiteRT model. Use the whole package (`bytenet translate` without "
                "--engine lite), or export it again with --engine both."
            )
        self._path = path
        self._settings = archive.read_json(SETTINGS)
        lite, data = self.section("lite"), self.section("data")
        self.beam_size = self._number(lite, "beam_size")
        self.longest = None if lite.get("longest") is None else self._number(lite, "longest", least=2)
        self.languages = languages_of(self._settings, path)
        max_length = data.get("max_length")
        self.max_length = max_length if type(max_length) is int and max_length > 0 else LARGEST_NUMBER
        self.characters = Characters.from_content(archive.read_json(VOCABULARY), f"{path}: {VOCABULARY}")
        symbols = len(self.characters.symbols)
        if lite.get("symbols", symbols) != symbols:  # files of earlier versions do not say it
            raise InputError(
                f"{path}: {VOCABULARY} has {symbols:,} symbols, but {LITE_MODEL} has another number. Export "
                "the model again."
            )
        self._run = self._function(read_lite_model(archive), signature, inputs, num_threads)
        self._turn = threading.Lock()

    def section(self, name: str) -> dict[str, Any]:
        """A section of the file's settings, not checked. It is empty if the file has none of this name."""
        section = self._settings.get(name)
        return section if isinstance(section, dict) else {}

    def __call__(self, **inputs: np.ndarray | np.generic) -> Mapping[str, np.ndarray]:
        """Call the function.

        Raises:
            ModelError: LiteRT fails; the file is damaged.
        """
        try:
            with self._turn:
                return self._run(**inputs)
        except (RuntimeError, ValueError) as error:  # such as an id that the network does not have
            raise ModelError(
                f"{self._path}: LiteRT cannot translate with {LITE_MODEL} ({error}). Export the model again."
            ) from error

    def _number(self, lite: dict[str, Any], name: str, least: int = 1) -> int:
        value = lite.get(name)
        if type(value) is not int or not least <= value <= LARGEST_NUMBER:
            raise InputError(
                f"{self._path}: {SETTINGS} has lite.{name} = {shown(value)}; expected a number from {least} to "
                f"{LARGEST_NUMBER:,}. Export the model again."
            )
        return value

    def _function(self, content: bytes, signature: str, inputs: tuple[str, ...], num_threads: int) -> Any:
        try:
            from ai_edge_litert.interpreter import Interpreter
        except ImportError as error:
            raise InputError(
                f"Translating with LiteRT needs the package ai-edge-litert ({error}). Install it: "
                "pip install ai-edge-litert."
            ) from error
        try:
            function = Interpreter(model_content=content, num_threads=num_threads).get_signature_runner(signature)
            details = function.get_input_details()
            for name in inputs:
                details[name]
        except (ValueError, RuntimeError, KeyError) as error:
            advice = "Export the model again."
            if signature == "score":
                advice = (
                    "Some files of earlier versions have no 'score', so LiteRT cannot rank with them. Use the whole "
                    "package (`bytenet translate --engine full`), or export the model again."
                )
            raise InputError(
                f"{self._path}: LiteRT cannot read {LITE_MODEL} or its function {signature!r} ({error}). {advice}"
            ) from error
        return function
