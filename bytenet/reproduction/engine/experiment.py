"""An experiment: its trainings, its data, its picture and its verdicts."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from bytenet.errors import InputError
from bytenet.reproduction.engine.verdict import Evidence, Verdict
from bytenet.reproduction.jobs.training import marker_in, trainings_of
from bytenet.reproduction.jobs.training_run import TrainingRun, run_folder_of

if TYPE_CHECKING:
    from bytenet.run_folder import RunFolder

Scale = Literal["smoke", "cpu", "thesis"]
SCALES: tuple[Scale, ...] = ("smoke", "cpu", "thesis")

Row = dict[str, Any]
"""One row of data, by column. A cell is an int, a float or a str: only its column says which, so it is `Any`."""
Table = list[Row]
"""Rows with the same columns. They are saved as CSV."""


@dataclass(frozen=True, kw_only=True)
class Needs:
    """What an experiment requires.

    Attributes:
        corpus: the name of its text, or "" for none.
        time: its duration at each scale, in words: "10 s", "25 min", "3.8 days on 4 GPUs (the thesis)".
    """

    corpus: str = ""
    time: Mapping[Scale, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Basis:
    """What the results of an experiment rest on.

    Attributes:
        evidence: the kind of evidence.
        size: size of data and model, in a few words.
    """

    evidence: Evidence
    size: str = "as in the thesis"


@dataclass(frozen=True)
class Work:
    """The input of `Experiment.measure`.

    Attributes:
        scale: the scale of the experiment.
        seeds: the seeds of every training, 1 to n.
        runs: folder of all run folders.
        say: prints a line of progress.
        environment: `versions`, `git_commit` and `machine` of this call, which the record will name.
    """

    scale: Scale
    seeds: Sequence[int]
    runs: Path
    say: Callable[[str], None] = lambda line: None
    environment: Mapping[str, Any] = field(default_factory=dict)

    def folders(self, run: TrainingRun) -> "list[RunFolder]":
        """The run folders of a finished training, one for each seed."""
        from bytenet.run_folder import RunFolder

        return [RunFolder.open(run_folder_of(run, seed, self.runs)) for seed in self.seeds]

    def finished(self, run: TrainingRun) -> "list[tuple[int, RunFolder]]":
        """The finished seeds of a training and their run folders.

        These are all seeds, unless only a part of the trainings is measured. A training with other settings is
        reported and left out.
        """
        from bytenet.run_folder import RunFolder

        marked = [seed for seed in self.seeds if marker_in(run_folder_of(run, seed, self.runs)).exists()]
        try:
            trainings = trainings_of(run, marked, self.runs) if marked else []
        except InputError as error:
            self.say(f"left out: {run.name}: {error}")
            return []
        finished = []
        for training in trainings:
            try:
                if training.is_finished():
                    finished.append((training.seed, RunFolder.open(training.folder)))
            except InputError as error:
                self.say(f"left out: {error}")
        return finished

    def measuring(self, run: TrainingRun) -> "Iterator[tuple[int, RunFolder]]":
        """As `finished`, for a measurement that takes a while: prints a line before each measurement."""
        for seed, folder in self.finished(run):
            self.say(f"measuring {run.name}, seed {seed}")
            yield seed, folder


def _no_runs(scale: Scale) -> list[TrainingRun]:
    return []


@dataclass(frozen=True, kw_only=True)
class Experiment:
    """A figure or a table.

    Attributes:
        name: its name on the command line, such as "fig-3.3.1" or "tab-3.3.1".
        title: what it shows.
        thesis: what the thesis shows there or says about it, in our words.
        needs: what it requires.
        basis: what its results rest on at the scale "cpu". At "thesis" the trainings have the size of the thesis's.
        measure: makes the data when `runs` are finished.
        verdicts: compares the data with the numbers of the thesis. It gets the data and the scale.
        plot: draws the data into a PNG file, with the axes of the thesis. None: a table, which needs no picture.
        beside: names of other experiments. `verdicts` and `plot` get their data as a third argument: a dict of tables
            by name, where an experiment without data has an empty table.
        runs: the trainings at a scale. Runs with the same name are the same run in every experiment.
        seeds: number of trainings of each run, by scale, unless the user gives another; 1 for a missing scale.
        labels: for each of `runs`, in order, the columns of the data that identify it. The column `trial` is the seed.
            With labels, `measure` makes one row for each training that `Work.finished` or `Work.measuring` gives. So it
            can also measure a part of the trainings.
        measured_with: what `measure` uses that is no setting of a training, by name, at a scale, ready for JSON. Only
            rows that were measured with the same are joined.
        one_seed: whether it shows a single training, even if the user asks for more seeds.
        is_thesis: whether its trainings are those of the thesis. Otherwise there are no differences from the thesis.
        judges_settings: whether `verdicts` also gets, as `settings`, the settings that differ from the thesis's. They
            come from the record of the data; None if there is none.
        differs: for an experiment without trainings, the differences from the thesis's, by scale.
    """

    name: str
    title: str
    thesis: str = "Not in the thesis."
    needs: Needs
    basis: Basis
    measure: Callable[[Work], Table]
    verdicts: Callable[..., list[Verdict]] = lambda table, scale: []
    plot: Callable[..., None] | None = None
    beside: tuple[str, ...] = ()
    runs: Callable[[Scale], list[TrainingRun]] = _no_runs
    seeds: Mapping[Scale, int] = field(default_factory=dict)
    labels: Callable[[Scale], list[Row]] | None = None
    measured_with: Callable[[Scale], dict[str, Any]] = lambda scale: {}
    one_seed: bool = False
    is_thesis: bool = True
    judges_settings: bool = False
    differs: Mapping[Scale, tuple[str, ...]] = field(default_factory=dict)

    def basis_at(self, scale: Scale) -> Basis:
        """What its results rest on at a scale."""
        if scale == "thesis" and self.basis.evidence == "trained, smaller":
            return Basis("trained, same size")
        return self.basis

    def num_seeds(self, scale: Scale, requested: int | None = None) -> int:
        """Number of trainings of each run.

        Args:
            scale: the scale.
            requested: the number that the user gave, or None.
        """
        return 1 if self.one_seed else requested or self.seeds.get(scale, 1)

    def command(self, scale: Scale, seeds: int) -> str:
        """The command line that makes its results."""
        command = f"bytenet reproduce {self.name} --scale {scale}"
        return f"{command} --seeds {seeds}" if self.runs(scale) else command

    @property
    def in_part(self) -> bool:
        """Whether it can show something before all its trainings are finished."""
        return self.labels is not None
