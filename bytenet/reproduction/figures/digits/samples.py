"""Table 3.3.1: six translations of the test set of Synthetic Digits."""

from bytenet.reproduction.data import thesis_numbers
from bytenet.reproduction.engine.experiment import Experiment, Needs, Scale, Table, Work
from bytenet.reproduction.engine.verdict import Verdict
from bytenet.reproduction.figures.digits.runs import BASIS, SETTINGS, TIME, digits_run
from bytenet.reproduction.figures.digits.translations import test_pairs, translate
from bytenet.reproduction.jobs.training_run import TrainingRun


def _runs(scale: Scale) -> list[TrainingRun]:
    return [digits_run("bytenet", settings, scale) for settings in SETTINGS]


def _measure(work: Work) -> Table:
    pairs = test_pairs(6)
    of_thesis = thesis_numbers("digits_samples")
    table: Table = [
        {"source": source, "target": target, "printed": printed}
        for source, target, printed in zip(pairs.source, pairs.target, of_thesis, strict=True)
    ]
    for settings, run in zip(SETTINGS, _runs(work.scale), strict=True):
        for row, translation in zip(table, translate(work.folders(run)[0], pairs.source), strict=True):
            row[f"{settings} settings"] = translation
    return table


def _verdicts(table: Table, scale: Scale) -> list[Verdict]:
    right = {settings: sum(row["target"] == row[f"{settings} settings"] for row in table) for settings in SETTINGS}
    return [
        Verdict(quantity=f"right samples of six, {settings} settings", printed=3, measured=count)
        for settings, count in right.items()
    ]


EXPERIMENTS = (
    Experiment(
        name="tab-3.3.1",
        title="Six test samples of ByteNet on Synthetic Digits, beam 10",
        thesis="Three of six are right. Of the others, two have the last digit wrong and one has both digits wrong.",
        needs=Needs(time=TIME),
        basis=BASIS,
        runs=_runs,
        measure=_measure,
        verdicts=_verdicts,
        one_seed=True,
    ),
)
