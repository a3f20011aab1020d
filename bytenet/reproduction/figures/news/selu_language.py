"""Beyond the thesis: does a SELU ByteNet train on natural language, and what does it take?

The thesis's SELU ByteNet spiked and did not learn Europarl. These trainings add, one by one, what it did not try.
"""

from pathlib import Path
from statistics import fmean

import numpy as np

from bytenet.csv_log import read_csv_log
from bytenet.reproduction.engine.experiment import Basis, Experiment, Needs, Row, Scale, Table, Work
from bytenet.reproduction.engine.judging import mean_of
from bytenet.reproduction.engine.verdict import Verdict
from bytenet.reproduction.figures.shared.cells import number_in, rows_where
from bytenet.reproduction.figures.shared.corpus_files import as_files, number_words
from bytenet.reproduction.figures.shared.curves import WATCHED, series, steps_per_epoch, worst_spikes
from bytenet.reproduction.figures.shared.plots import handles_of, legend_below, new_figure, save
from bytenet.reproduction.jobs.training_run import TrainingRun

_PLAIN = ("training.schedule=constant", "training.warmup_steps=0", "training.clip_norm=null")
_THESIS_RATE = "training.learning_rate=3e-4"
_WARM_COSINE = ("training.schedule=cosine", "training.warmup_steps=100", "training.learning_rate=2e-3")
_BYTENET, _SELU = "model.variant=bytenet", "model.variant=selu"

#: Settings of each training. From the second SELU on, each adds something to the one before.
LADDER = {
    "ByteNet, thesis recipe": (_BYTENET, "model.initializer=thesis_code", _THESIS_RATE, *_PLAIN),
    "SELU, thesis recipe": (_SELU, "model.initializer=thesis_code", _THESIS_RATE, *_PLAIN),
    "SELU, + its own initialisation": (_SELU, "model.initializer=lecun", _THESIS_RATE, *_PLAIN),
    "SELU, + clipping, lower rate": (
        _SELU, "model.initializer=lecun", "training.learning_rate=1e-4", *_PLAIN[:2], "training.clip_norm=1.0",
    ),
    "SELU, + warm-up, branches scaled by depth, cosine to 2e-3": (_SELU, "model.initializer=auto", *_WARM_COSINE),
    "SELU, + alpha dropout": (_SELU, "model.initializer=auto", *_WARM_COSINE, "model.dropout=0.05"),
    "ByteNet, same recipe": (_BYTENET, "model.initializer=auto", *_WARM_COSINE),
}  # fmt: skip
_PLAIN_BYTENET, _BEST_BYTENET = "ByteNet, thesis recipe", "ByteNet, same recipe"

_SCALES: dict[Scale, tuple[str, ...]] = {
    "smoke": (
        "model.dim=8", "model.num_sets=1", "data.batch_size=8", "data.batch_chars=null", "data.num_buckets=1",
        "training.epochs=2", "training.jit_compile=false", "evaluation.continuous_every_steps=2",
        "evaluation.continuous_batch_size=8",
    ),
    "cpu": (
        "model.dim=64", "data.max_length=80", "data.max_train_pairs=4000", "data.num_buckets=2",
        "training.epochs=3", "evaluation.continuous_every_steps=25", "evaluation.max_sentences=300",
    ),
    "thesis": ("model.dim=400", "training.epochs=10", "evaluation.continuous_every_steps=100"),
}  # fmt: skip
_COMMON = (
    "model.dropout=0.0", "training.ema_momentum=null", "training.keep_model=last", "decoding.length_penalty=1.0",
    *WATCHED,
)  # fmt: skip

_NAMES = {
    label: "language-" + label.lower().replace(", + ", "-").replace(", ", "-").replace(" ", "-") for label in LADDER
}


def _prepare(folder: Path) -> list[str]:
    return as_files(folder, *number_words())


def _run(label: str, scale: Scale) -> TrainingRun:
    settings = (*_COMMON, *_SCALES[scale], *LADDER[label])
    return TrainingRun(_NAMES[label], "multi30k", settings, _prepare if scale == "smoke" else None)


def _runs(scale: Scale) -> list[TrainingRun]:
    return [_run(label, scale) for label in LADDER]


def _measure(work: Work) -> Table:
    """Rows of `run`, `seed`, `kind` ("batch" or "epoch"), `epoch`, `loss`, `chrf` and `bleu`.

    "batch" rows have the loss of a random training batch, in nats per character, whichever loss the run minimised.
    "epoch" rows have the loss of the validation set and the scores of its translations. `relative_time` is the time of
    a step over the time of a ByteNet step, both measured in turns in one process.
    """
    relative_time = _relative_time(work.scale)
    rows: Table = []
    for label in LADDER:
        for seed, folder in zip(work.seeds, work.folders(_run(label, work.scale)), strict=True):
            epochs, batches = read_csv_log(folder.metrics_path), read_csv_log(folder.continuous_path)
            steps = steps_per_epoch(folder)
            time = relative_time if label.startswith("SELU") else 1.0
            same: Row = {"run": label, "seed": seed, "relative_time": time}
            for step, loss in zip(batches["step"], batches["train_cross_entropy"], strict=True):
                rows.append({**same, "kind": "batch", "epoch": step / steps, "loss": loss, "chrf": "", "bleu": ""})
            for index, epoch in enumerate(epochs["epoch"]):
                scores = {name: epochs[f"val_{name}"][index] for name in ("loss", "chrf", "bleu")}
                rows.append({**same, "kind": "epoch", "epoch": epoch, **scores})
    return rows


def _relative_time(scale: Scale) -> float:
    """Median time of a SELU ByteNet step over the median time of a ByteNet step."""
    from bytenet.profiling.benchmarks.training import measure_training
    from bytenet.profiling.benchmarks.training_case import TrainingCase

    size = (4, 16) if scale == "smoke" else (32, 80)
    configs = {label: _run(label, scale).config(seed=1) for label in ("SELU, + clipping, lower rate", _BEST_BYTENET)}
    compiled = scale != "smoke"
    selu, bytenet = measure_training(
        [TrainingCase(config, *size, compiled) for config in configs.values()], repeats=2 if scale == "smoke" else 7
    )
    return selu.seconds.median / bytenet.seconds.median


def _at_epochs(table: Table, run: str, column: str) -> dict[int, tuple[np.ndarray, np.ndarray]]:
    return series(rows_where(table, kind="epoch"), run, column)


def _ends(table: Table, run: str, column: str) -> list[float]:
    return [float(values[-1]) for _, values in _at_epochs(table, run, column).values()]


def _verdicts(table: Table, scale: Scale) -> list[Verdict]:
    selu = [label for label in LADDER if label.startswith("SELU")]
    losses = {label: _ends(table, label, "loss") for label in LADDER}
    means = {label: fmean(values) for label, values in losses.items()}
    batches = rows_where(table, kind="batch")
    verdicts = []
    for label in selu:
        spikes = worst_spikes(batches, label, "loss")
        ratio = means[label] / means[_PLAIN_BYTENET]
        verdicts.append(
            mean_of(
                f"{label}: highest loss of a batch, divided by the median, second half of the training", spikes,
                note=f"validation loss {means[label]:.3f} nats per character, {ratio:.2f} times "
                f"that of {_PLAIN_BYTENET}",
            )
        )  # fmt: skip
    best = min(selu, key=lambda label: means[label])
    quality = {
        label: f"{label}: {means[label]:.3f} nats, chrF {fmean(_ends(table, label, 'chrf')):.1f}, "
        f"BLEU {fmean(_ends(table, label, 'bleu')):.1f}"
        for label in (best, _BEST_BYTENET)
    }
    gaps = [selu - bytenet for selu, bytenet in zip(losses[best], losses[_BEST_BYTENET], strict=True)]
    verdicts.append(
        mean_of(
            "validation loss of the best SELU minus that of ByteNet, same recipe and epochs, nats per character", gaps,
            note=f"{'; '.join(quality.values())}; best of {len(selu)} recipes by this same loss, so the difference is "
            "too favourable to SELU",
        )
    )  # fmt: skip
    time = number_in(rows_where(table, run=best)[0], "relative_time")
    same_time = [
        float(np.interp(epochs[-1] * time, epochs, values))
        for epochs, values in _at_epochs(table, _BEST_BYTENET, "loss").values()
    ]
    gaps = [selu - bytenet for selu, bytenet in zip(losses[best], same_time, strict=True)]
    verdicts.append(
        mean_of(
            "the same at equal time", gaps,
            note=f"a SELU step takes {time:.2f} of ByteNet's. ByteNet is measured where SELU's time is up, before its "
            "learning rate has come down, which favours SELU",
        )
    )  # fmt: skip
    return verdicts


def _plot(table: Table, path: Path) -> None:
    from matplotlib.ticker import MaxNLocator, NullFormatter

    figure = new_figure(5.4)
    training, validation = all_axes = figure.subplots(1, 2, sharey=True)
    for axes, kind in ((training, "batch"), (validation, "epoch")):
        rows = rows_where(table, kind=kind)
        for number, label in enumerate(LADDER):
            for epochs, values in series(rows, label, "loss").values():
                axes.plot(
                    epochs, values, "o-" if kind == "epoch" else "-", color=f"C{number}", linewidth=1.2, markersize=4,
                    label=label.replace("thesis recipe", "the thesis's recipe"),
                )  # fmt: skip
        axes.set_xlabel("epoch")
        axes.xaxis.set_major_locator(MaxNLocator(integer=True))
        axes.grid(alpha=0.3, which="both")
    training.set(yscale="log", ylabel="cross entropy, nats per character")
    training.set_yticks([1, 2, 5, 10], ["1", "2", "5", "10"])
    training.yaxis.set_minor_formatter(NullFormatter())
    training.set_title("random training batches", fontsize="medium")
    validation.set_title("validation set", fontsize="medium")
    legend_below(figure, handles_of(all_axes), "all trained here")
    save(figure, path)


EXPERIMENTS = (
    Experiment(
        name="selu-language",
        is_thesis=False,
        title="SELU ByteNet on natural language: other recipes than the thesis's (Multi30k)",
        thesis="SELU ByteNet spikes on occasion and learns Europarl extremely poorly (figure 3.5.6). The thesis "
        "names gradient clipping as a possible remedy, but does not think that it is a good one. It reports no trial "
        "of a remedy. (Here “thesis recipe” means the initial weights of its published code and its learning rate, "
        "without clipping. Masking and loss are our defaults in all trainings.)",
        needs=Needs(
            corpus="Multi30k",
            time={
                "smoke": "2 min, on generated number words",
                "cpu": "20 min: 4,000 pairs, width 64, 3 epochs",
                "thesis": "29,000 pairs, width 400, 10 epochs, 7 trainings: a GPU, hours",
            },
        ),
        basis=Basis("trained, beyond the thesis", "4,000 pairs, d = 64"),
        runs=_runs,
        measure=_measure,
        verdicts=_verdicts,
        plot=_plot,
    ),
)
