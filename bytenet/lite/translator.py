"""Translate lines with LiteRT."""

import os
import threading
from collections.abc import Iterable, Iterator
from typing import Any, Self

import numpy as np

from bytenet.errors import InputError
from bytenet.lite.archive import LITE_MODEL, SETTINGS, VOCABULARY, Archive
from bytenet.lite.characters import Characters, is_blank
from bytenet.lite.pretrained import pretrained_path
from bytenet.lite.translation import BLANK, Translation

_LARGEST_NUMBER = 2**16


class Translator:
    """Translates lines with the LiteRT model in a `.bytenet` file, one after the other.

    The options of the search are those of the export. Several threads may use one translator; they take turns.

    Args:
        path: of the file.
        num_threads: processor cores for one line.

    Raises:
        MissingFileError: there is no such file.
        InputError: the file is damaged or has no LiteRT model, or the package `ai-edge-litert` is missing.

    Attributes:
        beam_size: number of hypotheses that the search keeps.
        longest: largest number of symbols of a line, with the end symbol; None for no limit.
    """

    def __init__(self, path: str | os.PathLike[str], num_threads: int = 1):
        archive = Archive(path)
        if LITE_MODEL not in archive:
            raise InputError(
                f"{path} was exported without a LiteRT model. Use the whole package (`bytenet translate`), or export "
                "it again with --engine lite or both."
            )
        search = archive.read_json(SETTINGS).get("lite")
        search = search if isinstance(search, dict) else {}
        self.beam_size = _number(search, "beam_size", path)
        self.longest = None if search.get("longest") is None else _number(search, "longest", path)
        self._characters = Characters.from_content(archive.read_json(VOCABULARY), f"{path}: {VOCABULARY}")
        symbols = len(self._characters.symbols)
        if search.get("symbols", symbols) != symbols:  # files of earlier versions do not say it
            raise InputError(
                f"{path}: {VOCABULARY} has {symbols:,} symbols, but {LITE_MODEL} was made for another number. Export "
                "the model again."
            )
        self._path = path
        self._search = _signature(archive.read(LITE_MODEL), num_threads, str(path))
        self._turn = threading.Lock()

    @classmethod
    def from_pretrained(cls, name: str, num_threads: int = 1) -> Self:
        """A translator with a model that ships with the package, such as "de-en".

        Raises:
            MissingFileError: there is no model of that name.
        """
        return cls(pretrained_path(name), num_threads)

    def translate(self, lines: Iterable[str], n_best: int = 1) -> Iterator[list[Translation]]:
        """Translate lines in their order.

        Args:
            lines: one sentence each, without line ends.
            n_best: largest number of hypotheses for each line, at most `beam_size`.

        Yields:
            The hypotheses of each line, best first. A blank line has one empty hypothesis. A line may have fewer than
            `n_best`, if no more exist.

        Raises:
            ValueError: `n_best` is not between 1 and `beam_size`.
            InputError: a line has an unknown character, and the vocabulary's rule refuses it; or a line is too long
                for the model; or the file is damaged.
        """
        if not 1 <= n_best <= self.beam_size:
            raise ValueError(f"n_best is {n_best}; expected a number from 1 to beam_size, which is {self.beam_size}.")
        for line in lines:
            yield self._translate_line(line, n_best)

    def _translate_line(self, line: str, n_best: int) -> list[Translation]:
        ids = self._characters.encode(line)
        if is_blank(line):
            return [BLANK]
        if self.longest is not None and len(ids) > self.longest:
            raise InputError(
                f"A sentence has {len(ids):,} symbols with the end symbol, but the model reads at most "
                f"{self.longest:,}. Split the sentence."
            )
        try:
            with self._turn:
                result = self._search(source_ids=ids[None], n_best=np.int32(n_best))
        except (RuntimeError, ValueError) as error:  # such as an id that the network does not have
            raise InputError(
                f"{self._path}: LiteRT cannot translate with {LITE_MODEL} ({error}). Export the model again."
            ) from error
        rows = (result[name][0] for name in ("ids", "scores", "log_probabilities", "ended"))
        return [
            Translation(self._characters.decode(hypothesis), float(score), float(log_probability), bool(ended))
            for hypothesis, score, log_probability, ended in zip(*rows, strict=True)
            if np.isfinite(log_probability)
        ]


def _number(search: dict[str, Any], name: str, path: str | os.PathLike[str]) -> int:
    value = search.get(name)
    if not isinstance(value, int) or not 1 <= value <= _LARGEST_NUMBER:
        raise InputError(f"{path}: {SETTINGS} has lite.{name} = {value!r}; expected a number. Export the model again.")
    return value


def _signature(model: bytes, num_threads: int, where: str) -> Any:
    """The function of a LiteRT model that translates one sentence, see `bytenet.decoding.export.litert`.

    Raises:
        InputError: the runtime is missing or cannot read the model.
    """
    try:
        from ai_edge_litert.interpreter import Interpreter
    except ImportError as error:
        raise InputError(
            f"Translating with LiteRT needs the package ai-edge-litert ({error}). Install it: "
            "pip install ai-edge-litert."
        ) from error
    try:
        signature = Interpreter(model_content=model, num_threads=num_threads).get_signature_runner("serving_default")
        signature.get_input_details()["source_ids"], signature.get_input_details()["n_best"]
    except (ValueError, RuntimeError, KeyError) as error:
        raise InputError(f"{where}: LiteRT cannot read {LITE_MODEL} ({error}). Export it again.") from error
    return signature
