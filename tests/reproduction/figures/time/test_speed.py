"""Verdicts on handmade speeds: what is compared, and when it contradicts the thesis."""

from concurrent.futures.process import BrokenProcessPool

import pytest

from bytenet.errors import InputError
from bytenet.reproduction.engine.experiment import Work
from bytenet.reproduction.engine.results import read_table, write_table
from bytenet.reproduction.figures.time import speed
from bytenet.reproduction.figures.time.speed_plots import plot_rates
from bytenet.reproduction.figures.time.speed_verdicts import (
    bytenet_verdicts,
    rates,
    selu_verdicts,
    simplified_verdicts,
)

WEIGHTS = {"bytenet": 200, "simplified": 100, "selu": 190}


def table(kind="CPU", devices=(1, 2), **speeds):
    """Three turns of each model. The second turn is twice as slow. Speeds are for one device and for several."""
    return [
        {
            "model": model, "devices": count, "kind": kind, "dim": 8, "weights": WEIGHTS[model],
            "batch_size": 16 * count, "length": 10, "turn": turn, "elapsed_seconds": 1.5 * turn,
            "observations_a_second": speed * machine,
        }
        for turn, machine in enumerate((1.0, 0.5, 1.0), start=1)
        for model, both in speeds.items()
        for count, speed in zip(devices, both, strict=True)
    ]  # fmt: skip


def test_a_measurement_that_was_killed_gives_advice(monkeypatch, tmp_path):
    def in_new_process(*arguments):
        raise BrokenProcessPool

    monkeypatch.setattr(speed, "in_new_process", in_new_process)
    with pytest.raises(InputError, match=r"ended early\. It needs up to 8 GB of memory: free some, try again\."):
        speed.EXPERIMENTS[0].measure(Work("thesis", (1,), tmp_path))


def test_rates_of_one_case_are_in_the_order_of_turns():
    assert rates(table(bytenet=(10, 12), selu=(30, 31)), "bytenet", 2).tolist() == [12, 6, 12]


def test_turn_that_is_slow_for_all_models_does_not_change_ratios():
    found = selu_verdicts(table(bytenet=(10, 10), selu=(25, 30)), "cpu")
    assert [verdict.measured for verdict in found[:4]] == pytest.approx([2.5, 3, 2.5, 3])
    assert found[0].interval == pytest.approx((2.5, 2.5))
    assert all(verdict.seeds == 1 and "over 3 turns" in verdict.note for verdict in found)


@pytest.mark.parametrize(("scale", "contradicts"), [("cpu", True), ("thesis", True), ("smoke", False)])
def test_small_advantage_of_selu_on_gpus_contradicts_the_thesis(scale, contradicts):
    cpu, *_ = selu_verdicts(table(bytenet=(10, 10), selu=(12, 21)), scale)
    assert not cpu.contradicts  # the thesis measured graphics cards
    one, several, *_ = selu_verdicts(table("GPU", (1, 4), bytenet=(10, 10), selu=(12, 21)), scale)
    assert (one.outcome, one.contradicts, "test batch" in one.note) == ("not shown", contradicts, True)
    assert (several.outcome, several.contradicts, "test batch" in several.note) == ("shown", False, False)


def test_simplified_is_compared_with_thesis_text_and_both_rates():
    on_gpu = table("GPU", (1, 4), bytenet=(10, 10), simplified=(11.5, 21))
    saved, one, several, _ = simplified_verdicts(on_gpu, "thesis")
    assert (saved.measured, saved.outcome) == (pytest.approx(1.5 / 11.5), "shown")
    assert "between 0.1 and 0.3" in saved.note
    assert (one.printed, one.outcome) == (pytest.approx(23.9 / 18.5), "not reproduced")
    assert (several.printed, several.outcome) == (pytest.approx(66.6 / 55.7), "not reproduced")
    assert "0.500 of ByteNet's weights" in one.note
    assert simplified_verdicts(table("GPU", bytenet=(10, 10), simplified=(21, 21)), "thesis")[0].outcome == "not shown"


def test_ratios_on_cpus_are_measured_but_not_judged():
    on_cpu = table(bytenet=(10, 10), simplified=(11.5, 21), selu=(12, 21))
    for found in (simplified_verdicts(on_cpu, "cpu"), selu_verdicts(on_cpu, "cpu")):
        assert {verdict.outcome for verdict in found} == {"no claim"}
        assert found[0].note.startswith("CPUs, not GPUs; ")


def test_scaling_is_judged_on_gpus_but_not_on_logical_cpus():
    *of_cpus, efficiency = bytenet_verdicts(table(bytenet=(10, 12)), "cpu")
    assert [(verdict.printed, verdict.outcome) for verdict in of_cpus] == [(18.5, "no claim"), (55.7, "no claim")]
    assert (efficiency.measured, efficiency.outcome) == (pytest.approx(0.6), "no claim")
    assert "share the same cores" in efficiency.note
    *_, efficiency = bytenet_verdicts(table("GPU", (1, 4), bytenet=(10, 39)), "thesis")
    assert (efficiency.measured, efficiency.outcome) == (pytest.approx(0.975), "not reproduced")
    assert efficiency.printed == pytest.approx(55.7 / (4 * 18.5))


@pytest.mark.parametrize("kind", ["CPU", "GPU"])
def test_two_devices_beside_four_cards_say_so_and_allow_no_claim(kind):
    rows = table(kind, bytenet=(10, 10), simplified=(11.5, 21), selu=(12, 21))
    for found in (bytenet_verdicts(rows, "cpu"), simplified_verdicts(rows, "cpu"), selu_verdicts(rows, "cpu")):
        of_two = [one for one in found if {"CPU": "the CPU as 2", "GPU": "2 GPU"}[kind] in one.quantity]
        assert of_two
        assert all("4 cards" in one.note and one.outcome == "no claim" for one in of_two)
        assert "the thesis's: 4 cards, divided by 4 times one" in found[-1].note
        assert found[-1].outcome == "no claim"
        assert not any("cards" in one.note for one in found if "1 " in one.quantity.partition(", ")[2])
    four = table("GPU", (1, 4), bytenet=(10, 10), selu=(12, 21))
    assert not any("cards" in one.note for one in selu_verdicts(four, "cpu"))


def test_picture_and_verdicts_follow_from_the_csv_alone(tmp_path):
    rows = table(bytenet=(10, 12), simplified=(20, 21), selu=(30.5, 31))
    write_table(tmp_path / "rows.csv", rows)
    read = read_table(tmp_path / "rows.csv")
    assert read == rows
    assert selu_verdicts(read, "cpu") == selu_verdicts(rows, "cpu")
    plot_rates(read, tmp_path / "rows.png")
    assert (tmp_path / "rows.png").read_bytes().startswith(b"\x89PNG")


def test_thesis_rates_are_drawn_beside_our_rates(tmp_path, figures):
    plot_rates(table(bytenet=(10, 12), simplified=(20, 21)), tmp_path / "rates.png")
    one, several = figures[0].axes
    dashed = [[line.get_ydata()[0] for line in axes.lines if line.get_linestyle() == "--"] for axes in (one, several)]
    assert dashed == [[18.5, 23.9], [55.7, 66.6]]
    assert [text.get_text() for text in several.texts] == ["55.7", "66.6"]
    assert several.get_title() == "here the CPU as 2 devices; thesis 4 Titan X cards"
