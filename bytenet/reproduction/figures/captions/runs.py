"""Trainings on pairs and monolingual captions: the ways that are compared, and the chosen settings of each.

Settings are chosen on the validation set (`monolingual-captions-tuning`), with the same number of tries for each way
in `TRIES`. The backward translator uses the settings chosen for the forward translator.
"""

from dataclasses import dataclass

from bytenet.csv_log import read_csv_log
from bytenet.reproduction.engine.experiment import Scale
from bytenet.reproduction.figures.shared.training_length import SMOKE_CORPUS, length_settings
from bytenet.reproduction.figures.shared.validation_scores import VALIDATED, kept_model_columns
from bytenet.reproduction.jobs.training_run import Start, TrainingRun
from bytenet.run_folder import RunFolder

_PRESET = "multi30k-semi"


@dataclass(frozen=True)
class Way:
    """A way to train.

    Attributes:
        sides: sides of the monolingual text that it learns from.
        settings: settings that define it.
        steps: training steps, chosen so that all ways take the same time on one core.
        started: whether it starts from the two supervised translators.
    """

    sides: tuple[str, ...] = ()
    settings: tuple[str, ...] = ()
    steps: int = 0
    started: bool = True


_THESIS = ("semi_supervised.objective=marginal", "semi_supervised.beam_size=5")  # default of all ways
_SUPERVISED = ("semi_supervised.enabled=false",)
_BACK_TRANSLATION = ("semi_supervised.objective=back_translation", "semi_supervised.beam_size=1")
_BOTH = ("source", "target")

PAIRS, BACKWARD, CONTROL = "pairs alone", "pairs alone, English to German", "pairs alone, trained on as long"
MARGINAL, BACK = "marginal, text of both sides", "back-translation"
BACK_ONCE = "back-translation by the supervised translator"
# Steps beyond the two supervised trainings: 20 minutes of one core, at .21 s for the pairs of both translators, 1.16 s
# with the marginal of both texts, .33 s with their back-translation, by `bytenet benchmark semi-supervised`. The times
# of ways that only train the forward translator are computed from parts of these, not measured.
WAYS = {
    PAIRS: Way(settings=_SUPERVISED, steps=3200, started=False),
    BACKWARD: Way(settings=(*_SUPERVISED, "data.reversed=true"), steps=3200, started=False),
    CONTROL: Way(settings=("semi_supervised.trained=forward",), steps=11_000),
    MARGINAL: Way(_BOTH, steps=1000),
    BACK: Way(_BOTH, _BACK_TRANSLATION, steps=3600),
    BACK_ONCE: Way(("target",), (*_BACK_TRANSLATION, "semi_supervised.trained=forward"), steps=7000),
}


@dataclass(frozen=True)
class Choice:
    """The tuned settings.

    Attributes:
        dropout: dropout rate of both translators.
        weight: weight of the monolingual text, the thesis's lambda; 0 without text.
    """

    dropout: float
    weight: float = 0.0


#: Settings tried on the validation set with seed 1, the same number for each way.
TRIES = {
    PAIRS: (Choice(0.1), Choice(0.2), Choice(0.3)),
    CONTROL: (Choice(0.2), Choice(0.3), Choice(0.4)),
    MARGINAL: (Choice(0.2, 1.0), Choice(0.2, 0.3), Choice(0.3, 1.0)),
    BACK: (Choice(0.2, 1.0), Choice(0.2, 0.3), Choice(0.3, 1.0)),
    # Only dropout is varied, as for `CONTROL`, with which it is compared. A smaller weight was no better for `BACK`.
    BACK_ONCE: (Choice(0.2, 1.0), Choice(0.3, 1.0), Choice(0.4, 1.0)),
}
#: Settings of the comparison. `monolingual-captions-tuning` shows whether they were the best.
CHOSEN = {
    PAIRS: Choice(0.2),
    BACKWARD: Choice(0.2),
    CONTROL: Choice(0.4),
    MARGINAL: Choice(0.2, 0.3),
    BACK: Choice(0.2, 1.0),
    BACK_ONCE: Choice(0.2, 1.0),
}

_VALIDATION = ("evaluation.max_sentences=500",)  # of 1,014
_SCALES: dict[Scale, tuple[str, ...]] = {
    "smoke": (
        *SMOKE_CORPUS, "data.num_monolingual=16", "semi_supervised.batch_chars=null", "semi_supervised.num_buckets=1",
        "model.dim=8", "model.num_sets=1",
    ),
    "cpu": _VALIDATION,
    "thesis": _VALIDATION,
}  # fmt: skip
_STEPS_AN_EPOCH = 206  # of the 3,000 pairs
_EVALUATIONS = 8  # on the validation set, approximately


def training_of(way: str, scale: Scale, choice: Choice | None = None) -> TrainingRun:
    """The training of a way with the chosen settings, or with another choice."""
    recipe, choice = WAYS[way], choice or CHOSEN[way]
    settings = [
        f"model.dropout={choice.dropout}", *length_settings(scale, recipe.steps, _STEPS_AN_EPOCH, _EVALUATIONS),
        *(f"semi_supervised.{side}_weight={choice.weight if side in recipe.sides else 0.0}" for side in _BOTH),
    ]  # fmt: skip
    starts: tuple[Start, ...] = ()
    if recipe.started:
        settings += ["training.learning_rate=1e-3", "training.warmup_steps=100"]
        starts = (
            Start("semi_supervised.start_forward", training_of(PAIRS, scale)),
            Start("semi_supervised.start_backward", training_of(BACKWARD, scale)),
        )
    together = f"captions-{way} {choice.dropout:g}".replace(",", "").replace(" ", "-")
    return TrainingRun(
        f"{together}-{choice.weight:g}" if recipe.sides else together, _PRESET,
        (*_THESIS, *settings, *_SCALES[scale], *recipe.settings),
        starts=starts, together=together, cost=2.0 if starts else 1.0,
    )  # fmt: skip


def kept_and_last_scores_of(folder: RunFolder) -> dict[str, float]:
    """`kept_model_columns` of a training, and the scores of its last model (`last_`)."""
    metrics = read_csv_log(folder.metrics_path)
    return kept_model_columns(metrics) | {f"last_{name}": metrics[name][-1] for name in VALIDATED}
