"""The evaluation of a trained model on one test set, and its files in the run folder."""

import json
import os
import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bytenet.datasets import read_lines
from bytenet.errors import InputError, MissingFileError
from bytenet.evaluation.metrics.scores import Score
from bytenet.files import PARTIAL, atomic_paths
from bytenet.markdown import cell, table
from bytenet.run_folder import RunFolder

NUM_SAMPLES = 20
_HYPOTHESES = "hypotheses.txt"
_REFERENCES = "references.txt"


@dataclass(frozen=True)
class Evaluation:
    """Scores and translations of one test set.

    Attributes:
        name: of the test set and of the files.
        sources, references, hypotheses: line by line.
        scores: all scores.
        settings: of the search, for JSON.
        seconds: time of the translation, compilation included.
        num_unended: number of translations that the length limit cut off.
        model_sha256: checksum of the evaluated model's file, if it is the model of one run.
    """

    name: str
    sources: Sequence[str]
    references: Sequence[str]
    hypotheses: Sequence[str]
    scores: Sequence[Score]
    settings: dict[str, Any]
    seconds: float
    num_unended: int
    model_sha256: str | None = None

    def to_dict(self) -> dict[str, Any]:
        """Everything except the texts, for JSON."""
        return {
            "name": self.name,
            "num_sentences": len(self.hypotheses),
            "scores": [score.to_dict() for score in self.scores],
            "settings": self.settings,
            "seconds": self.seconds,
            "characters_per_second": sum(map(len, self.hypotheses)) / self.seconds,
            "num_unended": self.num_unended,
            "model_sha256": self.model_sha256,
        }

    def save(self, folder: Path) -> list[Path]:
        """Write `NAME.json`, `NAME.hypotheses.txt`, `NAME.references.txt` and `NAME.samples.md`.

        The .txt files have one sentence per line. `NAME.samples.md` has twenty sentences, evenly spaced, or all if
        there are fewer. If one file cannot be written, none of them changes (see `atomic_paths`).

        Returns:
            Their paths.

        Raises:
            InputError: the disk is full, or a file cannot be written, for example because a folder has its name.
        """
        folder.mkdir(parents=True, exist_ok=True)
        contents = {
            "json": json.dumps(self.to_dict(), indent=2, ensure_ascii=False) + "\n",
            _HYPOTHESES: _lines(self.hypotheses),
            _REFERENCES: _lines(self.references),
            "samples.md": self._samples(),
        }
        paths = [folder / f"{self.name}.{suffix}" for suffix in contents]
        with atomic_paths(paths) as partials:
            for partial, text in zip(partials, contents.values(), strict=True):
                partial.write_text(text, encoding="utf-8", newline="")
        return paths

    def _samples(self) -> str:
        total = len(self.hypotheses)
        chosen = f"{NUM_SAMPLES} of {total:,} sentences, evenly spaced, from the first one on:\n\n"
        return (chosen if total > NUM_SAMPLES else "") + samples_table(self.sources, self.references, self.hypotheses)


def hypothesis_file(run_dir: str | os.PathLike[str], name: str) -> Path:
    """The file of translations that `bytenet evaluate` saved in a run folder.

    Args:
        run_dir: the run folder.
        name: of the evaluation.

    Raises:
        MissingFileError: the run has no such evaluation.
    """
    folder = RunFolder(run_dir).evaluation
    path = folder / f"{name}.{_HYPOTHESES}"
    if path.is_file():
        return path
    files = (file.name for file in folder.glob(f"*.{_HYPOTHESES}") if not file.name.startswith(PARTIAL))
    saved = sorted(file.removesuffix(f".{_HYPOTHESES}") for file in files)
    options = {"test": "`", "validation": " --split validation`", "train": " --split train`"}
    other_options = "` and the options that made it for another run, such as --source, --corpus or --max-sentences"
    without_test = " If the corpus has no test pairs, add --split validation there, and --name validation here."
    raise MissingFileError(
        f"{folder} has no evaluation named {name}; it has {', '.join(saved) or 'none'}. Make it with "
        f"`bytenet evaluate {shlex.quote(os.fspath(run_dir))}{options.get(name, other_options)}"
        f"{', or name one that it has' if saved else ''}.{without_test if name == 'test' else ''}"
    )


def reference_file(run_dirs: Sequence[str | os.PathLike[str]], name: str) -> Path:
    """The file of references that `bytenet evaluate` saved in the first of some run folders.

    Args:
        run_dirs: the run folders, all with this evaluation.
        name: of the evaluation.

    Raises:
        MissingFileError: a run has no references, because an older version evaluated it.
        InputError: the references of another run differ from those of the first one.
    """
    first, *others = (RunFolder(run_dir).evaluation / f"{name}.{_REFERENCES}" for run_dir in run_dirs)
    for path in (first, *others):
        if not path.is_file():
            raise MissingFileError(
                f"{path} is missing: an older version made this evaluation. Run `bytenet evaluate` again, or give "
                "--reference."
            )
    references = read_lines(first)
    for path in others:
        if read_lines(path) != references:
            raise InputError(
                f"{first} and {path} differ, so the runs were evaluated on different test sets. Evaluate them on the "
                "same one, or choose another evaluation with --name."
            )
    return first


def samples_table(
    sources: Sequence[str], references: Sequence[str], hypotheses: Sequence[str], count: int = NUM_SAMPLES
) -> str:
    """A Markdown table of translations beside their sources and references.

    The lines are evenly spaced, from the first one on: test sets may be sorted, as Tatoeba's is by length.

    Args:
        sources, references, hypotheses: line by line.
        count: number of lines; all if there are fewer.
    """
    texts = list(zip(sources, references, hypotheses, strict=True))
    count = min(count, len(texts))
    rows = [texts[index * len(texts) // count] for index in range(count)]
    return table(("source", "reference", "translation"), [[cell(text) for text in row] for row in rows]) + "\n"


def _lines(texts: Sequence[str]) -> str:
    return "".join(f"{text}\n" for text in texts)
