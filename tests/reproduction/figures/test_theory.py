"""Statements of the thesis on normalisation, activations and blocks, measured on this project's layers."""

import pytest

from bytenet.reproduction import Work
from bytenet.reproduction.engine.results import read_table, write_table
from bytenet.reproduction.figures.network import blocks
from bytenet.reproduction.figures.theory import activations, densities, invariances


@pytest.fixture
def judge(tmp_path):
    """A function that returns an experiment's table, read back from its file, and its verdicts by quantity."""

    def run(module, name):
        experiment = next(found for found in module.EXPERIMENTS if found.name == name)
        table = experiment.measure(Work("smoke", [1], tmp_path))
        write_table(tmp_path / "table.csv", table)
        table = read_table(tmp_path / "table.csv")
        if experiment.plot is not None:
            experiment.plot(table, tmp_path / "picture.png")
            assert (tmp_path / "picture.png").stat().st_size > 1000
        return table, {verdict.quantity: verdict for verdict in experiment.verdicts(table, "smoke")}

    return run


@pytest.mark.parametrize("name", ["fig-2.4.1", "fig-2.4.2"])
def test_correct_densities_are_shown_and_wrong_ones_are_not(judge, name):
    table, verdicts = judge(densities, name)
    assert {verdict.outcome for verdict in verdicts.values()} == {"shown"}
    spoilt = [row | {"density": 1.1 * row["density"]} for row in table]
    found = next(experiment for experiment in densities.EXPERIMENTS if experiment.name == name)
    assert found.verdicts(spoilt, "smoke")[0].outcome == "not shown"


def test_invariances_are_shown_and_swapped_norms_contradict_the_thesis(judge):
    table, verdicts = judge(invariances, "tab-2.4.1")
    assert [verdict.outcome for verdict in verdicts.values()].count("shown") == 10
    assert not any(verdict.contradicts for verdict in verdicts.values())
    swapped = {"batch": "layer", "layer": "batch"}
    wrong = invariances._invariance_verdicts(
        [row | {"normalisation": swapped[row["normalisation"]]} for row in table], "smoke"
    )
    assert sum(verdict.contradicts for verdict in wrong) == 6


def test_activation_verdicts_have_expected_outcomes(judge):
    _, verdicts = judge(activations, "fig-3.5.2")
    outcomes = [verdict.outcome for verdict in verdicts.values()]
    assert outcomes == ["agrees", "agrees", "shown", "shown", "no claim"]


@pytest.mark.thorough
def test_blocks_and_weights_are_read_from_the_layers(judge):
    table, verdicts = judge(blocks, "fig-3.4.1")
    names = [row["layer"] for row in table if row["model"] == "bytenet" and row["part"] == "decoder block"]
    assert names == [
        "pre_normalization", "reduce_dim", "reduce_dim_normalization", "conv_dilated", "conv_dilated_normalization",
        "recover_dim",
    ]  # fmt: skip
    widths = [row["width"] for row in table if row["model"] == "simplified" and row["part"] == "encoder block"]
    assert widths == [200, 200]
    whole = {(row["model"], row["dim"]): row["trained_weights"] for row in table if row["part"] == "network"}
    assert whole["bytenet", 20] == 60_428
    assert whole["simplified", 20] == 106_028
    assert whole["bytenet", 400] == 22_733_500
    by_section, by_conclusion = (
        verdict for quantity, verdict in verdicts.items() if "blocks of d = 200 and 400" in quantity
    )
    assert by_section.measured == by_conclusion.measured == pytest.approx(0.459, abs=1e-3)
    assert (by_section.outcome, by_conclusion.outcome) == ("agrees", "not reproduced")
    assert by_conclusion.note.startswith("0.556 ")
    assert verdicts["layers of a block, Simplified divided by ByteNet"].measured == pytest.approx(1 / 3)
    # 5/9 and 27 million are right if the masked taps are counted, so they contradict nothing.
    findings = [verdict for verdict in verdicts.values() if verdict.contradicts]
    assert [verdict.quantity for verdict in findings] == [
        "weights of ByteNet, d = 20, convolution and dense layers",
        "weights of Simplified divided by ByteNet's, both of d = 20, as on Synthetic Digits",
    ]
    assert all(verdict.source for verdict in findings)
