"""Beyond the thesis: which search improves the translations of models of a small corpus.

The models are the unchanged ones of `quality-factors`, which learn 3,000 pairs of Multi30k: ByteNet, a second training
of it with another seed, and ConvS2S. A ByteNet of the other direction reranks. The validation set is translated with
each search, one at a time. The test set is not used.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from statistics import fmean
from typing import TYPE_CHECKING, Any

from bytenet.reproduction.engine.experiment import Basis, Experiment, Needs, Scale, Table, Work
from bytenet.reproduction.engine.statistics import by_trial
from bytenet.reproduction.engine.verdict import Verdict
from bytenet.reproduction.figures.contest.changes import BYTENET, CONVS2S, PAIRS
from bytenet.reproduction.figures.contest.gains import gain_verdicts, plot_gains
from bytenet.reproduction.figures.shared.translation_scores import gain_columns, score_columns
from bytenet.reproduction.jobs.training_run import TrainingRun

if TYPE_CHECKING:
    from bytenet.run_folder import RunFolder

_FIRST, _SECOND, _CONVS2S, _BACKWARD = "ByteNet", "the second ByteNet", "ConvS2S", "the other direction"
_SECOND_SEED = 100  # is added to the seed


@dataclass(frozen=True)
class Search:
    """A way to translate.

    Attributes:
        options: of the search, fields of `bytenet.config.DecodingConfig`. The others are those of the preset.
        models: that translate together. The first one's preset counts.
        reranked: whether the model of the other direction reranks the hypotheses.
    """

    options: Mapping[str, Any] = field(default_factory=dict)
    models: tuple[str, ...] = (_FIRST,)
    reranked: bool = False


_CONTROL = "beam of 5"
_LARGE = {"beam_size": 20}
#: The first is the control: the search of the preset.
SEARCHES = {
    _CONTROL: Search(),
    "greedy": Search({"beam_size": 1}),
    "beam of 20": Search(_LARGE),
    "beam of 20, length penalty .6": Search({**_LARGE, "length_penalty": 0.6}),
    "beam of 20, length penalty 1.4": Search({**_LARGE, "length_penalty": 1.4}),
    "beam of 20, coverage penalty .2": Search({**_LARGE, "coverage_penalty": 0.2}),
    "beam of 20, reranked, weight .5": Search({**_LARGE, "rerank_weight": 0.5}, reranked=True),
    "beam of 20, reranked, weight 1": Search({**_LARGE, "rerank_weight": 1.0}, reranked=True),
    "minimum Bayes risk, beam of 20": Search({**_LARGE, "mbr": True}),
    "minimum Bayes risk, 32 samples": Search({"samples": 32, "mbr": True}),
    "two ByteNets together": Search(models=(_FIRST, _SECOND)),
    "ByteNet and ConvS2S together": Search(models=(_FIRST, _CONVS2S)),
    "all three together": Search(models=(_FIRST, _SECOND, _CONVS2S)),
    "all three together, beam of 20, reranked, weight .5": Search(
        {**_LARGE, "rerank_weight": 0.5}, (_FIRST, _SECOND, _CONVS2S), reranked=True
    ),
}
_KEY = "search"


def _runs(scale: Scale) -> dict[str, TrainingRun]:
    first = BYTENET.training(BYTENET.name, scale)
    return {
        _FIRST: first,
        _SECOND: replace(
            first, name="search-second-bytenet", by_seed=lambda seed: (f"training.seed={_SECOND_SEED + seed}",)
        ),
        _CONVS2S: CONVS2S.training(CONVS2S.name, scale),
        _BACKWARD: replace(first, name="search-backward", settings=(*first.settings, "data.reversed=true")),
    }


def _measure(work: Work) -> Table:
    """Rows of `search`, `trial`, validation scores, gains over the search of the preset, and `seconds`."""
    folders = {name: work.folders(run) for name, run in _runs(work.scale).items()}
    return [
        row
        for number, trial in enumerate(work.seeds)
        for row in _rows_of_trial(work, {name: of_seeds[number] for name, of_seeds in folders.items()}, trial)
    ]


def _rows_of_trial(work: Work, models: "Mapping[str, RunFolder]", trial: int) -> Table:
    from bytenet.evaluation import evaluate_run, pairs_of_split

    pairs = pairs_of_split(models[_FIRST], "validation")
    rows: Table = []
    control = None
    for name, search in SEARCHES.items():
        work.say(f"translating the validation set: {name}, trial {trial}")
        first, *others = (models[model].path for model in search.models)
        options = dict(search.options)
        if search.reranked:
            options["rerank_with"] = str(models[_BACKWARD].path)
        result = evaluate_run(first, pairs, "validation", together_with=others, **options)
        if control is None:
            control = result.hypotheses
        gains = gain_columns(result, control, models[_FIRST].config.data.languages[1])
        rows.append({_KEY: name, "trial": trial, **score_columns(result), **gains, "seconds": result.seconds})
    return rows


def _verdicts(table: Table, scale: Scale) -> list[Verdict]:
    return gain_verdicts(table, _KEY, _CONTROL, _note)


def _note(rows: Table) -> str:
    means = {column: fmean(by_trial(rows, column).values()) for column in ("length_ratio", "seconds")}
    return f"length ratio {means['length_ratio']:.3f}; {means['seconds']:.0f} s"


EXPERIMENTS = (
    Experiment(
        name="search-factors",
        is_thesis=False,
        title=f"Which search improves translations, with models of {PAIRS:,} pairs",
        needs=Needs(
            corpus="Multi30k",
            time={
                "smoke": "1 min, on Synthetic Digits",
                "cpu": "1.5 h for a seed, two trainings at a time",
                "thesis": "as cpu",
            },
        ),
        basis=Basis("trained, beyond the thesis", f"{PAIRS:,} pairs, d = {BYTENET.dim}, {BYTENET.steps:,} steps"),
        runs=lambda scale: list(_runs(scale).values()),
        measure=_measure,
        verdicts=_verdicts,
        plot=partial(plot_gains, key=_KEY, control=_CONTROL),
    ),
)
