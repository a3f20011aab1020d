"""Experiments that try settings on the validation set, one training each."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Generic, TypeVar

from bytenet.reproduction.engine.experiment import Basis, Experiment, Needs, Row, Scale, Table, Work
from bytenet.reproduction.engine.verdict import Verdict
from bytenet.reproduction.figures.shared.cells import number_in, rows_where, texts_in
from bytenet.reproduction.jobs.training_run import TrainingRun

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

    from bytenet.run_folder import RunFolder

_Choice = TypeVar("_Choice", bound="DataclassInstance")


@dataclass(frozen=True)
class Tries(Generic[_Choice]):
    """The settings that are tried for some models.

    Attributes:
        column: the column with the name of the model.
        choice: the class of the settings. Its fields are numbers, and columns of the data.
        words: describes settings.
        at_scale: the name of the model and the settings of each training, at a scale.
        training: the training of a model with settings, at a scale.
        scores: more columns of a finished training: `val_chrf`, `val_bleu`, `minutes` and, if it started from another
            model, `best_step`.
        chosen: the settings that were chosen, by the name of the model.
        chosen_for: the name of the experiment that takes the chosen settings.
    """

    column: str
    choice: type[_Choice]
    words: Callable[[_Choice], str]
    at_scale: Callable[[Scale], Sequence[tuple[str, _Choice]]]
    training: Callable[[str, _Choice, Scale], TrainingRun]
    scores: "Callable[[RunFolder], Mapping[str, float]]"
    chosen: Mapping[str, _Choice]
    chosen_for: str

    def choice_of(self, row: Row) -> _Choice:
        """The settings of a row."""
        return self.choice(**{field.name: number_in(row, field.name) for field in fields(self.choice)})

    def runs(self, scale: Scale) -> list[TrainingRun]:
        """The trainings."""
        return [self.training(model, choice, scale) for model, choice in self.at_scale(scale)]

    def labels(self, scale: Scale) -> list[Row]:
        """The columns that identify each of `runs`, beside the trial."""
        return [{self.column: model, **asdict(choice)} for model, choice in self.at_scale(scale)]

    def measure(self, work: Work) -> Table:
        """Rows of `labels`, `trial` and `scores`, one for each finished training."""
        return [
            {**label, "trial": trial, **self.scores(folder)}
            for label, run in zip(self.labels(work.scale), self.runs(work.scale), strict=True)
            for trial, folder in work.finished(run)
        ]

    def verdicts(self, table: Table, scale: Scale) -> list[Verdict]:
        """The best validation chrF of each model, and the scores of all its settings in the note."""
        tried = [model for model, _ in self.at_scale(scale)]
        return [
            self._verdict(model, rows_where(table, **{self.column: model}), tried.count(model))
            for model in texts_in(table, self.column)
        ]

    def _verdict(self, model: str, rows: Table, num_tries: int) -> Verdict:
        best = max(rows, key=lambda row: number_in(row, "val_chrf"))
        notes = [
            f"{self.words(self.choice_of(row))}: chrF {row['val_chrf']:.2f}, BLEU {row['val_bleu']:.2f}, "
            f"{row['minutes']:.0f} min" + (", the starting weights were kept" if row.get("best_step") == 0 else "")
            for row in rows
        ]
        if len(rows) < num_tries:
            notes.append(f"{num_tries - len(rows)} to come")
        elif self.choice_of(best) != self.chosen[model]:
            notes.append(f"{self.chosen_for} takes another: {self.words(self.chosen[model])}")
        return Verdict(
            quantity=f"validation chrF of the best of {len(rows)} setting{'s' if len(rows) > 1 else ''}, {model}",
            printed="not tried", measured=number_in(best, "val_chrf"), note="; ".join(notes),
        )  # fmt: skip


def tuning_experiment(
    name: str, title: str, needs: Needs, size: str, tries: Tries[_Choice], plot: Callable[[Table, Path], None]
) -> Experiment:
    """An experiment beyond the thesis that tries settings.

    Args:
        name: its name.
        title: what it shows.
        needs: what it requires.
        size: size of data and models, in a few words.
        tries: the settings that it tries.
        plot: draws its data.
    """
    return Experiment(
        name=name, is_thesis=False, title=title, needs=needs, basis=Basis("trained, beyond the thesis", size),
        runs=tries.runs, measure=tries.measure, verdicts=tries.verdicts, plot=plot, one_seed=True, labels=tries.labels,
    )  # fmt: skip
