"""The trainings that experiments show: what is trained, with what, where it is kept, and whether it is finished."""

import hashlib
import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, NamedTuple

from bytenet.config import PATH_KEYS, Config, load_config
from bytenet.errors import InputError


class Start(NamedTuple):
    """A trained model that another training begins with.

    Attributes:
        setting: that takes its folder, such as "semi_supervised.start_forward".
        run: its training; of the same seed.
        folder: the model's place in the folder of that training.
    """

    setting: str
    run: "TrainingRun"
    folder: str = ""


@dataclass(frozen=True)
class TrainingRun:
    """A training that experiments show.

    Attributes:
        name: of its folder; runs of one name (and scale) are the same.
        preset: where its settings start.
        settings: what differs, `section.key=value` each.
        prepare: makes files that the settings name, in the folder it is given; returns the settings for them.
        text: what the training's text is, in words, where it is not the thesis's.
        thesis: what of the thesis it stands for; None is its run of the same name.
        by_seed: the settings that depend on the seed; None is `training.seed` alone.
        starts: what it begins with, which is trained before.
        together: trainings of one such name use one traced and compiled model again; "" is a process for each.
        cost: how much work it is beside others with a cost, in any unit; None where that is not known.
    """

    name: str
    preset: str
    settings: tuple[str, ...] = ()
    prepare: Callable[[Path], list[str]] | None = None
    text: str = ""
    thesis: "TrainingRun | None" = None
    by_seed: Callable[[int], tuple[str, ...]] | None = None
    starts: tuple[Start, ...] = ()
    together: str = ""
    cost: float | None = None

    def config(self, seed: int, runs: Path = Path(), prepared: Sequence[str] = ()) -> Config:
        """The configuration with a seed.

        Args:
            seed: of the training.
            runs: the folder of all trainings, for what it starts from.
            prepared: the settings that `prepare` returned.
        """
        starts = [f"{start.setting}={run_folder_of(start.run, seed, runs) / start.folder}" for start in self.starts]
        of_seed = self.by_seed(seed) if self.by_seed else (f"training.seed={seed}",)
        return load_config(self.preset, [*self.settings, *prepared, *starts, *of_seed])

    def settings_anywhere(self, seed: int) -> dict[str, Any]:
        """Every setting with a seed by dotted key, ready for JSON: paths are left out, of starts their names told."""
        settings = {key: value for key, value in self.config(seed).settings().items() if key not in PATH_KEYS}
        starts = {start.setting: f"{start.run.name}/{start.folder}" for start in self.starts}
        return json.loads(json.dumps(settings | starts))


def run_folder_of(run: TrainingRun, seed: int, runs: Path) -> Path:
    """Where a training of a run is kept."""
    return runs / run.name / f"seed-{seed}"


def marker_in(folder: Path) -> Path:
    """The file in a run folder that says it is finished."""
    return folder / "finished"


@dataclass(frozen=True)
class Training:
    """A run with a seed: what is trained where.

    Attributes:
        run: of which this is one.
        seed: of it.
        folder: its run folder.
        config: what it is trained with.
        digest: of what its configuration does not tell: a line for the files that were made for it, "" where none
            were, and one for the settings of what it starts from, if it does.
        after: folders of the trainings it starts from.
    """

    run: TrainingRun
    seed: int
    folder: Path
    config: Config
    digest: str
    after: frozenset[Path]

    @classmethod
    def make(cls, run: TrainingRun, seed: int, runs: Path, prepared: Sequence[str] = ()) -> "Training":
        """The training of a seed in the folder of all trainings, with the settings that `run.prepare` returned."""
        config = run.config(seed, runs, prepared)
        text = hashlib.sha256()
        keys = [key.removeprefix("data.") for key in PATH_KEYS if key.startswith("data.")] if prepared else []
        for path in filter(None, (asdict(config.data)[key] for key in keys)):
            text.update(Path(path).read_bytes())
        lines = [text.hexdigest() if prepared else ""]
        if run.starts:
            lines.append(_digest_before(run, seed))
        after = frozenset(run_folder_of(start.run, seed, runs) for start in run.starts)
        return cls(run, seed, run_folder_of(run, seed, runs), config, "\n".join(lines), after)

    @property
    def log(self) -> Path:
        """The file that it prints to."""
        return self.folder.with_suffix(".log")

    @property
    def saved_settings(self) -> Path:
        """The file that it takes its configuration from."""
        return self.folder.with_suffix(".yaml")

    @property
    def marker(self) -> Path:
        """The file that says it is finished."""
        return marker_in(self.folder)

    def is_finished(self) -> bool:
        """Whether it was trained to its end.

        Raises:
            InputError: it was, but with other settings or other text, or began with another training.
        """
        if not self.marker.exists():
            return False
        self.check_settings()
        then, now = (text.split("\n") for text in (self.marker.read_text(encoding="utf-8"), self.digest))
        if then[0] != now[0]:
            raise self._error(["the text is another"])
        if then[1:] and then[1:] != now[1:]:  # markers had one line
            raise self._error(["what it starts from is trained with other settings"])
        return True

    def check_settings(self) -> None:
        """Raise an InputError if what is in its folder, finished or not, has other settings or another start."""
        saved = self.folder / "config.yaml"
        if not saved.exists():
            return
        changes = load_config(saved).differences(self.config)
        starts = {start.setting for start in self.run.starts}
        told = [
            f"{key} was {old!r} and is {new!r}"
            for key, old, new in changes
            if key not in PATH_KEYS or (key in starts and self._place(old) != self._place(new))
        ]
        if told:
            raise self._error(told)

    def _error(self, told: Sequence[str]) -> InputError:
        return InputError(
            f"{self.folder} was trained with other settings: {'; '.join(told)}. Remove it to train again, or give "
            "another --runs."
        )

    def _place(self, start: str | None) -> tuple[str, ...]:
        """Of a model to start from: the name, the seed and the place in its run folder, wherever all of them lie."""
        parts = Path(start or "").parts
        names = {start.run.name for start in self.run.starts}
        of_run = [number for number, part in enumerate(parts) if part in names]
        return parts[of_run[-1] :] if of_run else parts


def _digest_before(run: TrainingRun, seed: int) -> str:
    """Of the settings of all that a run starts from; a setting that is new in a later version changes nothing."""
    defaults = json.loads(json.dumps(Config().settings()))
    told = [
        [before.name, {key: value for key, value in before.settings_anywhere(seed).items() if value != defaults[key]}]
        for before in unique_runs([run])[:-1]
    ]
    return hashlib.sha256(json.dumps(told).encode()).hexdigest()


def unique_runs(runs: Iterable[TrainingRun]) -> list[TrainingRun]:
    """The runs and what they start from, each name once (the first counts), nothing before what it starts from."""
    found: dict[str, TrainingRun] = {}
    for run in runs:
        if run.name not in found:
            for before in unique_runs(start.run for start in run.starts):
                found.setdefault(before.name, before)
            found.setdefault(run.name, run)
    return list(found.values())
