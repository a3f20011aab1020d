"""The state of a run, apart from its tensors."""

from dataclasses import asdict, dataclass, field
from typing import Any

import pydantic

from bytenet.config import Config, EvaluationConfig
from bytenet.training.plateau import Count, Plateau, is_below_least_rate, is_better


@pydantic.with_config(extra="forbid")
@dataclass
class TrainingState:
    """The place of a run in its data, its best scores so far, and its fixed settings. Every checkpoint contains it.

    Attributes:
        epoch: number of completed epochs.
        batch: number of completed batches in the present epoch.
        step: number of completed batches since the start.
        best_scores: best value of the early-stopping metric so far, by direction of the translator; empty before the
            first evaluation.
        best_epoch: number of epochs when the latest best score was reached. An epoch that is not complete counts, too.
        plateaus: by direction of the translator; empty without the schedule "plateau".
        seconds: time spent training, including earlier processes.
        characters: number of real target characters trained on.
        data: fingerprint of the training texts and their batches. It must be the same when a run is resumed.
        validation: fingerprint of the validation pairs, likewise if there are best scores. Empty if an older version
            saved the state.
        settings: `bytenet.config.fixed_settings` of the run, whose `config.yaml` may be edited later. Empty if an older
            version saved the state.
    """

    epoch: Count = 0
    batch: Count = 0
    step: Count = 0
    best_scores: dict[str, float] = field(default_factory=dict)
    best_epoch: Count = 0
    plateaus: dict[str, Plateau] = field(default_factory=dict)
    seconds: float = 0.0
    characters: Count = 0
    data: str = ""
    validation: str = ""
    settings: dict[str, Any] = field(default_factory=dict)

    def improve(self, metric: str, translator: str, score: float, epoch: int) -> bool:
        """Keep a score if it is the best one so far.

        Args:
            metric: as for `is_better`.
            translator: "forward" or "backward".
            score: of this translator.
            epoch: number of epochs before the score was measured. An epoch that is not complete counts, too.

        Returns:
            Whether the score is the best one so far.
        """
        improved = is_better(metric, score, self.best_scores.get(translator))
        if improved:
            self.best_scores[translator], self.best_epoch = score, epoch
        return improved

    def to_dict(self) -> dict[str, Any]:
        """The state for `from_dict`."""
        return asdict(self)

    @classmethod
    def from_dict(cls, saved: dict[str, Any]) -> "TrainingState":
        """A saved state. Older versions saved only the best score of the forward translator.

        Raises:
            pydantic.ValidationError: it is something else.
        """
        saved = dict(saved)
        if "best_score" in saved:
            best = saved.pop("best_score")
            saved["best_scores"] = {} if best is None else {"forward": best}
        return _STATE.validate_python(saved)


_STATE = pydantic.TypeAdapter(TrainingState)


def is_inside_epoch(state: TrainingState, num_batches: int, total_steps: int) -> bool:
    """Whether the latest step is followed by others of its epoch in this run. Call it before the epoch is counted.

    Args:
        state: of the run.
        num_batches: in an epoch.
        total_steps: steps of the whole run.
    """
    return state.batch < num_batches and state.step < total_steps


def is_step_due(state: TrainingState, every_steps: int | None) -> bool:
    """Whether the latest step is a multiple of `every_steps`; never if that is None."""
    return every_steps is not None and state.step % every_steps == 0


def is_evaluation_due(state: TrainingState, evaluation: EvaluationConfig) -> bool:
    """Whether `evaluation.every_epochs` asks for an evaluation now. Runs are also evaluated at their last step."""
    return state.batch == 0 and state.epoch % evaluation.every_epochs == 0


def is_out_of_patience(state: TrainingState, config: Config) -> bool:
    """Whether the validation score has not improved for `training.early_stopping_patience` epochs.

    Only an epoch with an evaluation on schedule can be the last.
    """
    patience = config.training.early_stopping_patience
    if patience is None or not state.best_scores or not is_evaluation_due(state, config.evaluation):
        return False
    return state.epoch - state.best_epoch >= patience


def early_stop_message(state: TrainingState, metric: str) -> str:
    """Why a run stops that is out of patience."""
    return f"{metric} has not improved in {state.epoch - state.best_epoch} epochs, so training stops early."


def changes_to_train_on(state: TrainingState, config: Config, num_batches: int) -> dict[str, str]:
    """The settings to change so that a finished run can train longer; none if it is not finished.

    Args:
        state: at the end of the latest step.
        config: of the run.
        num_batches: in an epoch.

    Returns:
        What each setting should be, in words, by its name.
    """
    training = config.training
    is_reached = {
        "epochs": state.step >= training.epochs * num_batches,
        "max_steps": training.max_steps is not None and state.step >= training.max_steps,
        "early_stopping_patience": is_out_of_patience(state, config),
    }
    changes = {f"training.{name}": f"more than {getattr(training, name)}" for name, ends in is_reached.items() if ends}
    if is_below_least_rate(state.plateaus.values(), training):
        changes["training.min_learning_rate"] = f"less than {training.min_learning_rate:g}"
    return changes
