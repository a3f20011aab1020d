"""A training: a run with a seed, its folder, and whether it is finished."""

import hashlib
import json
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from bytenet.config import PATH_KEYS, Config, load_config
from bytenet.config.building import build_config
from bytenet.config.families import DEFAULT_FAMILY
from bytenet.config.settings_text import Setting
from bytenet.errors import InputError
from bytenet.reproduction.jobs.training_run import TrainingRun, run_folder_of, unique_runs, without_paths
from bytenet.run_folder import RunFolder


def marker_in(folder: Path) -> Path:
    """The file in a run folder that marks the training as finished."""
    return folder / "finished"


@dataclass(frozen=True)
class Training:
    """A run with a seed.

    Attributes:
        run: the run.
        seed: its seed.
        folder: its run folder.
        config: its configuration.
        digest: what the configuration does not contain, in one or two lines. The first is a hash of the prepared files,
            "" without any. The second is a hash of the settings of the trainings that it starts from, if any.
        after: folders of the trainings that it starts from.
    """

    run: TrainingRun
    seed: int
    folder: Path
    config: Config
    digest: str
    after: frozenset[Path]

    @classmethod
    def make(cls, run: TrainingRun, seed: int, runs: Path, prepared: Sequence[str] = ()) -> "Training":
        """The training of a run with a seed.

        Args:
            run: the run.
            seed: its seed.
            runs: folder of all run folders.
            prepared: the settings that `run.prepare` returned.
        """
        config = run.config(seed, runs, prepared)
        text = hashlib.sha256()
        keys = [key.removeprefix("data.") for key in PATH_KEYS if key.startswith("data.")] if prepared else []
        for path in filter(None, (asdict(config.data)[key] for key in keys)):
            text.update(Path(path).read_bytes())
        lines = [text.hexdigest() if prepared else ""]
        if run.starts:
            lines.append(_digest_of_starts(run, seed))
        after = frozenset(run_folder_of(start.run, seed, runs) for start in run.starts)
        return cls(run, seed, run_folder_of(run, seed, runs), config, "\n".join(lines), after)

    @property
    def log(self) -> Path:
        """The file that the training prints to."""
        return self.folder.with_suffix(".log")

    @property
    def saved_settings(self) -> Path:
        """The file that the training reads its configuration from."""
        return self.folder.with_suffix(".yaml")

    @property
    def begun_with(self) -> Path:
        """The file with the digest that the training has begun with."""
        return self.folder.with_suffix(".digest")

    @property
    def marker(self) -> Path:
        """The file that marks the training as finished."""
        return marker_in(self.folder)

    def is_finished(self) -> bool:
        """Whether the training has reached its end.

        Raises:
            InputError: it has, but with other settings, other text or other start models.
        """
        if not self.marker.exists():
            return False
        self.check_settings()
        self._check_digest(self.marker)
        return True

    def check_settings(self) -> None:
        """Check that a training in its folder, finished or not, has the same settings and start models.

        Raises:
            InputError: it has others.
        """
        saved = RunFolder(self.folder).config_path
        if not saved.exists():
            return
        starts = {start.setting for start in self.run.starts}
        changes = [
            f"{key} was {old!r} and is {new!r}"
            for key, old, new in load_config(saved).differences(self.config)
            if key not in PATH_KEYS or (key in starts and self._start_name(old) != self._start_name(new))
        ]
        if changes:
            raise self._error(f"was trained with other settings: {'; '.join(changes)}")
        if self.begun_with.exists():  # earlier versions did not write it
            self._check_digest(self.begun_with)

    def _check_digest(self, path: Path) -> None:
        then, now = path.read_text(encoding="utf-8").split("\n"), self.digest.split("\n")
        if then[0] != now[0]:
            raise self._error("was trained with another text")
        if then[1:] and then[1:] != now[1:]:  # the files of earlier versions have one line
            raise self._error("started from a training with other settings")

    def _error(self, difference: str) -> InputError:
        return InputError(
            f"{self.folder} {difference}. To train with the present ones, give another --runs, which keeps this "
            "training; or remove the folder, which deletes it."
        )

    def _start_name(self, path: str | None) -> tuple[str, ...]:
        """The path of a start model from the name of its run on, so that moved folders count as the same."""
        parts = Path(path or "").parts
        names = {start.run.name for start in self.run.starts}
        positions = [position for position, part in enumerate(parts) if part in names]
        return parts[positions[-1] :] if positions else parts


def trainings_of(run: TrainingRun, seeds: Iterable[int], runs: Path) -> list[Training]:
    """The trainings of a run, one for each seed. The files that the run needs are written first.

    Args:
        run: the run.
        seeds: the seeds.
        runs: folder of all run folders.

    Raises:
        InputError: the text of the files is missing.
    """
    prepared = run.prepare(runs / run.name) if run.prepare else []
    return [Training.make(run, seed, runs, prepared) for seed in seeds]


def _digest_of_starts(run: TrainingRun, seed: int) -> str:
    """Hash of the settings of all runs that a run starts from.

    Only settings that are not the default of their family count. So a setting that a later version adds changes no
    hash.
    """
    settings = []
    for start in unique_runs([run])[:-1]:
        present = start.settings_without_paths(seed)
        family = Setting("model.family", present["model.family"], "the family")
        defaults = without_paths(build_config([family])) | {"model.family": DEFAULT_FAMILY}
        changed = {key: value for key, value in present.items() if value != defaults.get(key)}
        settings.append([start.name, changed])
    return hashlib.sha256(json.dumps(settings).encode()).hexdigest()
