"""The trainings of the attention baseline: its forms and their measurements."""

from dataclasses import dataclass

from bytenet.csv_log import read_csv_log
from bytenet.reproduction.data import thesis_numbers
from bytenet.reproduction.engine.experiment import Row, Scale, Table, Work
from bytenet.reproduction.engine.statistics import by_trial
from bytenet.reproduction.figures.semi_supervised.greedy_scores import greedy_scores
from bytenet.reproduction.figures.semi_supervised.grid_runs import thesis_rows
from bytenet.reproduction.figures.shared.cells import rows_where
from bytenet.reproduction.jobs.training_run import TrainingRun

ATTENTION = "attention-baseline"
"""Name of the experiment."""

#: The thesis's misclassification rates, by number of training pairs.
PRINTED: dict[int, float] = thesis_numbers("attention_baseline")
TRIALS = 10


@dataclass(frozen=True)
class _Form:
    """A form of the baseline.

    Attributes:
        words: description in pictures and verdicts.
        settings: settings that differ from the preset `digits-attention`.
        sizes: numbers of training pairs.
    """

    words: str
    settings: tuple[str, ...]
    sizes: tuple[int, ...] = tuple(PRINTED)


_THESIS_WEIGHTS = "model.initializer=thesis_code"
FORMS = {
    "thesis": _Form("as in the thesis", ("model.variant=madsen_bounded", _THESIS_WEIGHTS)),
    "dense": _Form("linear last layer, Keras's initial weights", ("model.variant=madsen", "model.initializer=auto")),
    "bounded": _Form("Keras's initial weights", ("model.variant=madsen_bounded", "model.initializer=auto"), (128,)),
}
"""The network of the thesis's code, the repaired network, and one that separates head and initial weights."""

# Seeds of two test sets: of the thesis's semi-supervised grid, and of its script for the baseline.
TEST_SEEDS = (2, 12)
EPOCHS = {"bytenet": 301, "baseline": 1001, "other version": 2001}
"""Epochs of ByteNet and of the baseline here, and of the baseline in another version of the author's script.

The author scored the folder that this other version writes (commit 21b8aa4). The version with 1,001 writes another one.
"""
SHARED_SETS = (
    "the trainings share five training sets but count as independent, so the interval may be too narrow or too wide"
)
"""A note on intervals that compare the baseline with ByteNet."""
_SETTINGS = (
    f"data.validation_seed={TEST_SEEDS[0]}", "data.num_validation=1024", "evaluation.continuous_every_seconds=null",
)  # fmt: skip
_SCALES: dict[Scale, tuple[str, ...]] = {
    "smoke": (
        "training.epochs=2", "training.jit_compile=false", "model.dim=8", "evaluation.max_sentences=16",
        "evaluation.every_epochs=1",
    ),
    "cpu": (f"evaluation.every_epochs={EPOCHS['bytenet']}",),
    "thesis": (f"evaluation.every_epochs={EPOCHS['bytenet']}",),
}  # fmt: skip


def _run(form: str, num_pairs: int, scale: Scale) -> TrainingRun:
    settings = (*FORMS[form].settings, f"data.num_train={num_pairs}", *_SETTINGS, *_SCALES[scale])
    name = f"attention-{form}-{num_pairs}"
    return TrainingRun(
        name, "digits-attention", settings, by_seed=_settings_of_trial, together=name, cost=num_pairs,
        thesis=None if form == "thesis" else _run("thesis", num_pairs, "thesis"),
    )  # fmt: skip


def _settings_of_trial(trial: int) -> tuple[str, ...]:
    """The five training sets of the thesis's grid in turn, with different initial weights in each trial."""
    return f"data.train_seed={10 * (1 + (trial - 1) % 5)}", f"training.seed={trial}"


def baseline_cells() -> list[tuple[str, int]]:
    return [(name, num_pairs) for name, form in FORMS.items() for num_pairs in form.sizes]


def baseline_labels(scale: Scale) -> list[Row]:
    return [{"form": form, "pairs": num_pairs} for form, num_pairs in baseline_cells()]


def baseline_runs(scale: Scale) -> list[TrainingRun]:
    return [_run(form, num_pairs, scale) for form, num_pairs in baseline_cells()]


def measure_baseline(work: Work) -> Table:
    """One row per training, with the thesis's misclassification (mean over sentences) of each test set.

    Returns:
        Rows of `form`, `pairs`, `trial`, `misclassification` and `loss` (nats per character) on the test set of seed 2,
        `misclassification_301` on the same set after 301 epochs, and `misclassification_12` on the test set of seed 12.
    """
    early = 1 if work.scale == "smoke" else EPOCHS["bytenet"]
    rows: Table = []
    for form, num_pairs in baseline_cells():
        for trial, folder in work.measuring(_run(form, num_pairs, work.scale)):
            metrics = read_csv_log(folder.metrics_path)
            rates = dict(zip(metrics["epoch"], metrics["val_misclassification"], strict=True))
            rows.append(
                {
                    "form": form, "pairs": num_pairs, "trial": trial, "misclassification": rates[max(rates)],
                    "loss": metrics["val_loss"][-1], "misclassification_301": rates[early],
                    "misclassification_12": greedy_scores(folder, TEST_SEEDS[1], work.scale)["misclassification"],
                }
            )  # fmt: skip
    return rows


def attention_values(table: Table, form: str, num_pairs: int, column: str = "misclassification") -> list[float]:
    """A column of a cell, one value per trial."""
    return list(by_trial(table, column, form=form, pairs=num_pairs).values())


def supervised_bytenet(num_pairs: int) -> list[float]:
    """The thesis's misclassification rates of ByteNet without unlabelled text: five trials of each of three weights."""
    return [row["misclassification"] for row in rows_where(thesis_rows(), labelled=num_pairs, unlabelled=0)]
