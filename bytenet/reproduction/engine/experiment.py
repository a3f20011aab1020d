"""What an experiment is: the trainings it needs, the data it makes of them, its picture and its verdict."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from bytenet.errors import InputError
from bytenet.reproduction.engine.verdict import Evidence, Verdict
from bytenet.reproduction.jobs.training_run import Training, TrainingRun, run_folder_of

if TYPE_CHECKING:
    from bytenet.run_folder import RunFolder

Scale = Literal["smoke", "cpu", "thesis"]
SCALES: tuple[Scale, ...] = ("smoke", "cpu", "thesis")

Row = dict[str, float | int | str]
Table = list[Row]
"""Rows with the same columns; what is kept as CSV."""


@dataclass(frozen=True, kw_only=True)
class Needs:
    """What an experiment takes.

    Attributes:
        corpus: the text, "" where there is none.
        time: by scale, in words: "10 s", "25 min", "3.8 days on 4 GPUs (the thesis)".
    """

    corpus: str = ""
    time: Mapping[Scale, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Basis:
    """What the results of an experiment rest on at a scale.

    Attributes:
        evidence: the kind.
        size: of data and model, in a few words.
    """

    evidence: Evidence
    size: str = "as in the thesis"


@dataclass(frozen=True)
class Work:
    """What `Experiment.measure` works with.

    Attributes:
        scale: of the experiment.
        seeds: of every training, 1 to n.
        runs: the folder of all finished trainings.
        say: prints a line of progress.
    """

    scale: Scale
    seeds: Sequence[int]
    runs: Path
    say: Callable[[str], None] = lambda line: None

    def folders(self, run: TrainingRun) -> "list[RunFolder]":
        """The folders of a finished training, one a seed."""
        from bytenet.run_folder import RunFolder

        return [RunFolder.open(run_folder_of(run, seed, self.runs)) for seed in self.seeds]

    def finished(self, run: TrainingRun) -> "list[tuple[int, RunFolder]]":
        """The seeds of a training that are finished, with their folders: all, unless a part is measured.

        What was trained with other settings is another training; it is told and left out.
        """
        from bytenet.run_folder import RunFolder

        found = []
        for seed in self.seeds:
            training = Training.make(run, seed, self.runs)
            try:
                is_finished = training.is_finished()
            except InputError as error:
                self.say(f"left out: {error}")
                continue
            if is_finished:
                found.append((seed, RunFolder.open(training.folder)))
        return found


def _no_runs(scale: Scale) -> list[TrainingRun]:
    return []


@dataclass(frozen=True, kw_only=True)
class Experiment:
    """A figure or table.

    Attributes:
        name: as on the command line: "fig-3.3.1", "tab-3.3.1".
        title: what it shows.
        thesis: what the thesis shows there or says about it, in our words.
        needs: what it takes.
        basis: what its results rest on at the scale "cpu". At "thesis" trainings are of the same size.
        measure: makes the data, once `runs` are finished.
        verdicts: compares data with what the thesis printed; sees nothing but the data.
        plot: draws the data into a PNG file, with the thesis's axes; None for tables, which are their own picture.
        beside: names of other experiments whose data `verdicts` and `plot` compare with, as a third argument: a dict of
            tables by name, empty ones for experiments without data.
        runs: the trainings at a scale. Runs of one name are the same run, whichever experiment asks for them.
        seeds: number of trainings of each run, by scale, unless the user says otherwise; 1 where not given.
        labels: of each of `runs`, in order, the columns that say which it is in the data, where `trial` is the seed.
            Where given, `measure` makes a row a training, and also of a part of them, those that `Work.finished` gives.
        one_seed: whether it shows a single training, whatever the user says.
        is_thesis: whether the thesis has it; what it does not have differs from it in nothing.
        differs: where an experiment without trainings differs from the thesis's, by scale.
    """

    name: str
    title: str
    thesis: str
    needs: Needs
    basis: Basis
    measure: Callable[[Work], Table]
    verdicts: Callable[..., list[Verdict]] = lambda table, scale: []
    plot: Callable[..., None] | None = None
    beside: tuple[str, ...] = ()
    runs: Callable[[Scale], list[TrainingRun]] = _no_runs
    seeds: Mapping[Scale, int] = field(default_factory=dict)
    labels: Callable[[Scale], list[Row]] | None = None
    one_seed: bool = False
    is_thesis: bool = True
    differs: Mapping[Scale, tuple[str, ...]] = field(default_factory=dict)

    def basis_at(self, scale: Scale) -> Basis:
        """What its results rest on at a scale."""
        if scale == "thesis" and self.basis.evidence == "trained, smaller":
            return Basis("trained, same size")
        return self.basis

    @property
    def in_part(self) -> bool:
        """Whether it shows something before all its trainings are finished."""
        return self.labels is not None
