"""What an experiment trains: the settings, and the models that it starts from. `Training` adds the seed."""

import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from bytenet.config import PATH_KEYS, Config, load_config
from bytenet.config.settings_text import write_value


class Start(NamedTuple):
    """A trained model that another training begins with.

    Attributes:
        setting: the setting for the folder of the model, such as "semi_supervised.start_forward".
        run: the training of the model. It has the same seed.
        folder: folder of the model, relative to the folder of that training.
    """

    setting: str
    run: "TrainingRun"
    folder: str = ""


@dataclass(frozen=True)
class TrainingRun:
    """A training that experiments show.

    Attributes:
        name: name of its folder. Runs with the same name and scale are the same.
        preset: the preset that its settings start from.
        settings: what differs from the preset, as `section.key=value`.
        prepare: writes the files that the settings need into the folder it gets, and returns the settings for them.
        text: description of its text, if it is not the text of the thesis.
        thesis: the thesis's run that it stands for. None: the run of the same name at the scale "thesis".
        by_seed: the settings that depend on the seed. None: only `training.seed` does.
        starts: trained models that it begins with. They are trained first.
        together: runs with the same value share a worker and its compiled models. "": a process for each training.
        cost: amount of work, compared with other runs that have a cost, in any unit. None: unknown.
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
        """The configuration for a seed.

        Args:
            seed: seed of the training.
            runs: folder of all run folders. The start models lie in it.
            prepared: the settings that `prepare` returned.
        """
        starts = [
            f"{start.setting}={write_value(str(run_folder_of(start.run, seed, runs) / start.folder))}"
            for start in self.starts
        ]
        seed_settings = self.by_seed(seed) if self.by_seed else (f"training.seed={seed}",)
        return load_config(self.preset, [*self.settings, *prepared, *starts, *seed_settings])

    def settings_without_paths(self, seed: int) -> dict[str, Any]:
        """All settings for a seed, by dotted key, ready for JSON.

        Paths are left out, because they differ between machines. A start model is named by its run instead.
        """
        starts = {start.setting: f"{start.run.name}/{start.folder}" for start in self.starts}
        return without_paths(self.config(seed)) | starts


def without_paths(config: Config) -> dict[str, Any]:
    """All settings that are not paths, by dotted key, as they are read back from JSON."""
    settings = {key: value for key, value in config.settings().items() if key not in PATH_KEYS}
    return json.loads(json.dumps(settings))


def run_folder_of(run: TrainingRun, seed: int, runs: Path) -> Path:
    """The run folder of a training."""
    return runs / run.name / f"seed-{seed}"


def unique_runs(runs: Iterable[TrainingRun]) -> list[TrainingRun]:
    """The runs and all runs that they start from.

    Returns:
        One run for each name, the first of that name. Each stands behind the runs that it starts from.
    """
    by_name: dict[str, TrainingRun] = {}
    for run in runs:
        if run.name not in by_name:
            for before in unique_runs(start.run for start in run.starts):
                by_name.setdefault(before.name, before)
            by_name.setdefault(run.name, run)
    return list(by_name.values())
