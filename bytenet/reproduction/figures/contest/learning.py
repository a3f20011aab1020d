"""Beyond the thesis: every family learns the two small tasks, Synthetic Digits and number words."""

from pathlib import Path
from statistics import fmean

from bytenet.reproduction.engine.experiment import Basis, Experiment, Needs, Row, Scale, Table, Work
from bytenet.reproduction.engine.judging import mean_of
from bytenet.reproduction.engine.statistics import RATE, by_trial
from bytenet.reproduction.engine.verdict import Verdict
from bytenet.reproduction.figures.contest.systems import SYSTEMS, scores_and_speed_of
from bytenet.reproduction.figures.shared.cells import rows_where, texts_in
from bytenet.reproduction.figures.shared.plots import new_figure, save
from bytenet.reproduction.jobs.training_run import TrainingRun

_SEEDS = 3
_SMOKE = (
    "data.num_train=24", "data.num_validation=8", "data.num_test=8", "data.batch_size=8", "data.num_buckets=1",
    "training.max_steps=4", "training.jit_compile=false",
)  # fmt: skip
# For each task: its preset, and what differs from it. All systems have the same steps.
_TASKS = {
    "digits": ("digits", ("data.num_train=256", "training.epochs=200", "training.keep_model=last")),
    "numbers": ("numbers", ()),
}
# Sizes of the models in the presets, and rates of learning.
_SIZES: dict[str, dict[str, tuple[str, ...]]] = {
    "ByteNet": {"digits": (), "numbers": ()},
    "ConvS2S": {
        task: (
            "model.family=convs2s", f"model.dim={dim}", f"model.output_dim={dim}",
            f"model.encoder_widths=[{dim}, {dim}, {dim}, {dim}]", "model.encoder_kernel_sizes=[3, 3, 3, 3]",
            f"model.decoder_widths=[{dim}, {dim}, {dim}]", "model.decoder_kernel_sizes=[3, 3, 3]",
        )
        for task, dim in (("digits", 20), ("numbers", 64))
    },
    "Transformer": {
        task: (
            "model.family=transformer", f"model.dim={dim}", f"model.feed_forward_dim={4 * dim}",
            "model.encoder_layers=2", "model.decoder_layers=2",
        )
        for task, dim in (("digits", 20), ("numbers", 64))
    },
    **{
        name: {
            task: ("model.family=recurrent", f"model.variant={name.lower()}", f"model.dim={dim}")
            for task, dim in (("digits", 20), ("numbers", 64))
        }
        for name in ("Bahdanau", "Luong", "Sutskever")
    },
}  # fmt: skip


def _run(task: str, system: str, scale: Scale) -> TrainingRun:
    preset, settings = _TASKS[task]
    smoke = (*_SMOKE, *SYSTEMS[system].smoke) if scale == "smoke" else ()
    name = f"learning-{task}-{system.lower()}"
    return TrainingRun(name, preset, (*settings, *_SIZES[system][task], *smoke), together=name, cost=1.0)


def _cells() -> list[tuple[str, str]]:
    return [(task, system) for task in _TASKS for system in SYSTEMS]


def _measure(work: Work) -> Table:
    """Rows of `task`, `system`, `trial`, `exact` (share of right translations), `bleu`, `minutes` and `steps`."""
    from bytenet.evaluation import evaluate_run, pairs_of_split

    rows: Table = []
    for task, system in _cells():
        for trial, folder in work.measuring(_run(task, system, work.scale)):
            result = evaluate_run(folder.path, pairs_of_split(folder, "test"), "test", bootstrap=0)
            scores = {score.name: score.value for score in result.scores}
            curve = scores_and_speed_of(folder)
            rows.append(
                {"task": task, "system": system, "trial": trial, "exact": scores["exact-match"],
                 "bleu": scores["BLEU"], "minutes": curve["minutes"], "steps": curve["steps"]}
            )  # fmt: skip
    return rows


def _verdicts(table: Table, scale: Scale) -> list[Verdict]:
    verdicts = []
    for task in texts_in(table, "task"):
        for system in texts_in(rows_where(table, task=task), "system"):
            where = {"task": task, "system": system}
            values = list(by_trial(table, "exact", **where).values())
            note = f"{fmean(by_trial(table, 'minutes', **where).values()):.1f} min"
            if task != "digits":  # A translation of digits is one word, so it has no BLEU.
                note = f"BLEU {fmean(by_trial(table, 'bleu', **where).values()):.1f}; {note}"
            verdicts.append(mean_of(f"share of right translations, {task}, {system}", values, limits=RATE, note=note))
    return verdicts


def _plot(table: Table, path: Path) -> None:
    tasks = texts_in(table, "task")
    figure = new_figure(3.2)
    for axes, task in zip(figure.subplots(1, len(tasks), squeeze=False)[0], tasks, strict=True):
        rows = rows_where(table, task=task)
        systems = texts_in(rows, "system")
        axes.plot([row["exact"] for row in rows], [systems.index(str(row["system"])) for row in rows], "o", alpha=0.6)
        axes.set_yticks(range(len(systems)), systems)
        axes.set(xlim=(-0.02, 1.02), ylim=(len(systems) - 0.5, -0.5), xlabel="share of right translations, test set")
        axes.set_title(task, fontsize="medium")
        axes.grid(alpha=0.3)
    save(figure, path)


def _label(task: str, system: str) -> Row:
    return {"task": task, "system": system}


EXPERIMENTS = (
    Experiment(
        name="family-learning",
        is_thesis=False,
        title="The families of models on small tasks: 256 pairs of Synthetic Digits, and number words",
        thesis="Not in the thesis. It has ByteNet and one recurrent model on Synthetic Digits.",
        needs=Needs(time={"smoke": "1 min", "cpu": "2 h for 3 seeds", "thesis": "as cpu"}),
        basis=Basis("trained, beyond the thesis", "d = 20 and 64"),
        runs=lambda scale: [_run(task, system, scale) for task, system in _cells()],
        measure=_measure,
        verdicts=_verdicts,
        plot=_plot,
        seeds={"cpu": _SEEDS, "thesis": _SEEDS},
        labels=lambda scale: [_label(task, system) for task, system in _cells()],
    ),
)
