"""The contest of the families: the same conditions for all, and verdicts of small tables."""

from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from bytenet.datasets import Pairs
from bytenet.evaluation.t_intervals import FEWEST_TO_COMPARE
from bytenet.reproduction.figures.contest import changes
from bytenet.reproduction.figures.contest.attention_offsets import by_offset
from bytenet.reproduction.figures.contest.systems import CHOSEN, SYSTEMS, TRIES, training_of
from bytenet.reproduction.registry import find_experiment


def test_systems_differ_only_in_their_models_their_steps_and_the_settings_of_their_presets():
    choice = TRIES[0]
    configs = {name: training_of(name, "cpu", choice, 10).config(1) for name in SYSTEMS}
    reference = configs["ByteNet"]
    own = {f"training.{name}" for name in ("max_steps", "epochs", "beta_2", "label_smoothing")}
    own.add("evaluation.every_epochs")
    for config in configs.values():
        differing = {key for key, _, _ in reference.differences(config)}
        assert {key for key in differing if not key.startswith("model.")} <= own
        assert config.model.dropout == choice.dropout
        assert config.training.learning_rate == choice.learning_rate
    assert len({config.model.family for config in configs.values()}) == 4


def test_steps_are_those_of_the_time():
    for name, system in SYSTEMS.items():
        steps = training_of(name, "cpu", CHOSEN[name], 30).config(1).training.max_steps
        assert steps == round(30 * system.steps_a_minute)


def test_costs_of_decoding_are_compared_with_short_texts_and_with_a_line():
    rows = [
        {"system": "ByteNet", "length": length, "milliseconds": cost, "low": cost, "high": cost}
        for length, cost in ((50, 9.0), (200, 1.0), (800, 3.0), (2000, 4.0))
    ]
    over_short, over_line = find_experiment("family-decoding").verdicts(rows, "cpu")
    assert over_short.measured == pytest.approx(4.0 / 9.0)
    assert over_line.measured == pytest.approx(3.0 / 2.0)  # the line has 1 at 200 and 4 at 2,000
    assert over_line.outcome == over_short.outcome == "no claim"


def test_best_try_and_another_choice_are_named():
    tries = [(choice, 40 + place) for place, choice in enumerate(TRIES)]
    rows = [
        {"system": "ByteNet", "dropout": choice.dropout, "learning_rate": choice.learning_rate, "trial": 1,
         "val_chrf": chrf, "val_bleu": 10.0, "minutes": 10.0}
        for choice, chrf in tries
    ]  # fmt: skip
    experiment = find_experiment("family-contest-tuning")
    [verdict] = experiment.verdicts(rows, "cpu")
    best = max(tries, key=lambda pair: pair[1])[0]
    assert verdict.measured == 40 + len(TRIES) - 1
    assert ("family-contest takes another" in verdict.note) == (best != CHOSEN["ByteNet"])
    [partial] = experiment.verdicts(rows[:1], "cpu")
    assert f"{len(TRIES) - 1} to come" in partial.note


def test_ablation_confirms_the_paper_only_if_the_interval_leaves_out_zero():
    def rows(values):
        return [
            {"model": model, "trial": trial, "val_bleu": bleu, "val_chrf": 50.0}
            for model, bleus in values.items() for trial, bleu in enumerate(bleus, start=1)
        ]  # fmt: skip

    experiment = find_experiment("convs2s-ablations")
    clear = {"the whole model": (20.0, 20.1, 20.2), "no positions": (17.0, 17.1, 17.2)}
    [_, shown] = experiment.verdicts(rows(clear), "cpu")
    assert shown.outcome == "shown"
    assert shown.measured == pytest.approx(-3.0)
    better = {"the whole model": (20.0, 20.1, 20.2), "no positions": (23.0, 23.1, 23.2)}
    assert experiment.verdicts(rows(better), "cpu")[1].outcome == "not shown"
    wide = {"the whole model": (20.0, 15.0), "no positions": (17.0, 19.0)}
    assert experiment.verdicts(rows(wide), "cpu")[1].outcome == "no claim"
    few = {"the whole model": (20.0, 20.01), "no positions": (17.0, 17.01)}
    assert experiment.verdicts(rows(few), "cpu")[1].outcome == "no claim"


def test_ablations_are_judged_with_holm_correction():
    whole, changed = (20.0, 20.1, 20.2), (19.75, 19.8, 19.9)  # p = .020 by Welch's test

    def verdicts(*names):
        return find_experiment("convs2s-ablations").verdicts(
            [
                {"model": model, "trial": trial, "val_bleu": bleu, "val_chrf": 50.0}
                for model, bleus in (("the whole model", whole), *((name, changed) for name in names))
                for trial, bleu in enumerate(bleus, start=1)
            ],
            "cpu",
        )  # fmt: skip

    assert [one.outcome for one in verdicts("no positions")] == ["no claim", "shown"]
    three = verdicts("no positions", "no source positions", "no target positions")
    assert {one.outcome for one in three} == {"no claim"}
    assert "Welch's interval" in three[1].note


def test_change_of_bleu_has_the_seeds_of_both_sides():
    rows = [{"model": "the whole model", "trial": 1, "val_bleu": 20.0, "val_chrf": 50.0}]
    rows += [{"model": "no positions", "trial": trial, "val_bleu": 17.0, "val_chrf": 50.0} for trial in (1, 2, 3)]
    [_, change] = find_experiment("convs2s-ablations").verdicts(rows, "cpu")
    assert (change.seeds, change.interval, change.outcome) == (1, None, "no claim")


def test_systems_with_attention_are_compared_seed_by_seed():
    rows = [
        {"system": system, "trial": trial, "bleu": bleu + trial, "bleu_low": 0.0, "bleu_high": 99.0, "chrf": 2 * bleu,
         "chrf_low": 0.0, "chrf_high": 99.0, "val_bleu": 1.0, "val_chrf": 2.0, "minutes": 10.0,
         "characters_a_second": 100.0, "written_a_second": 10.0, "length_ratio": 1.0, "curve": "5.0:2.00",
         "by_length": f"20.0:50.00 90.0:{bleu:.2f}"}
        for system, bleu in (("ByteNet", 10.0), ("ByteNet, window", 20.0), ("ByteNet, full", 23.0))
        for trial in (1, 2)
        if (system, trial) != ("ByteNet", 2)
    ]  # fmt: skip
    verdicts = {verdict.quantity: verdict for verdict in find_experiment("source-attention").verdicts(rows, "cpu")}
    assert verdicts["BLEU, ByteNet, window minus ByteNet"].measured == 10
    assert verdicts["BLEU, ByteNet, window minus ByteNet"].seeds == 1
    difference = verdicts["BLEU, ByteNet, full minus ByteNet, window"]
    assert (difference.measured, difference.interval, difference.seeds) == (3, (3, 3), 2)
    assert verdicts["chrF2, ByteNet, full minus ByteNet, window"].measured == 6
    longest = "chrF2 of the longest quarter of the sources, ByteNet, full minus ByteNet, window"
    assert verdicts[longest].measured == 3
    assert all(verdict.outcome == "no claim" for verdict in verdicts.values())


def test_attention_is_counted_by_its_offset():
    weights = np.array([[0.5, 0.5, 0.0], [0.25, 0.25, 0.5]])
    sums = by_offset(weights)
    # From two symbols before to two symbols after the own position.
    np.testing.assert_allclose(sums[38:43], [0.0, 0.25, 0.75, 1.0, 0.0])
    assert sums.sum() == pytest.approx(2.0)
    far = by_offset(np.eye(1, 100, 99))
    assert far[-1] == 1.0


@pytest.mark.parametrize("model", [changes.BYTENET, changes.CONVS2S], ids=lambda model: model.name)
def test_factors_make_one_change_to_a_model_and_train_for_the_same_time(model):
    unchanged = model.training(model.name, "cpu").config(1)
    assert unchanged.model.dim == model.dim
    bookkeeping = {"training.max_steps", "training.epochs", "evaluation.every_epochs"}
    for name, change in model.changes.items():
        config = model.training(name, "cpu").config(1)
        changed = {setting.partition("=")[0] for setting in change.settings}
        assert {key for key, _, _ in unchanged.differences(config)} - bookkeeping == changed
        time = config.training.max_steps * change.time_of_step
        assert time == pytest.approx(model.steps, abs=change.time_of_step)


def test_factors_have_folders_of_their_own():
    folders = [model.training(name, "cpu").name for model in (changes.BYTENET, changes.CONVS2S)
               for name in model.names("cpu")]  # fmt: skip
    assert len(set(folders)) == len(folders)


def test_models_of_the_factors_have_the_same_training_and_search():
    bytenet, convs2s = (model.training(model.name, "cpu").config(1) for model in (changes.BYTENET, changes.CONVS2S))
    others = {key for key, _, _ in bytenet.differences(convs2s) if not key.startswith("model.")}
    assert others == {"training.max_steps", "training.epochs"}
    assert bytenet.model.dropout == convs2s.model.dropout


def test_a_factor_adds_the_pairs_of_the_other_direction_with_a_tag(monkeypatch, tmp_path):
    corpus = SimpleNamespace(train=Pairs(["ein Hund", "zwei Hunde"], ["a dog", "two dogs"]))
    monkeypatch.setattr(changes, "read_corpus", lambda config: corpus)
    run = changes.BYTENET.training("both directions in one model, with a tag", "cpu")
    data = run.config(1, prepared=run.prepare(tmp_path)).data
    files = [Path(path).read_text(encoding="utf-8") for path in (data.synthetic_source, data.synthetic_target)]
    assert files == ["a dog\ntwo dogs\n", "ein Hund\nzwei Hunde\n"]
    assert data.synthetic_tag is not None


def factor_rows(gains=None):
    """Rows of the preset with 20 of each score, and of "dropout .5" with gains of 1.5 and 2.5.

    Args:
        gains: what stands in the columns of the gains of "dropout .5"; None is the gains.
    """
    shared = {"length_ratio": 1.0, "minutes": 20.0, "best_step": 3000, "steps": 3120, "val_loss": 0.7}
    rows = []
    for change in (changes.BYTENET.name, "dropout .5"):
        for trial, gain in enumerate((1.5, 2.5), start=1):
            row = {"change": change, "trial": trial, **shared}
            for key in ("bleu", "chrf"):
                score = 20.0 if change == changes.BYTENET.name else 20.0 + gain
                own = 0.0 if change == changes.BYTENET.name else gain if gains is None else gains
                for column, value in ((key, score), (f"{key}_gain", own)):
                    row |= {column: value, f"{column}_low": value, f"{column}_high": value}
            rows.append(row)
    return rows


def test_factors_are_judged_by_their_gain_over_the_preset():
    verdicts = find_experiment("quality-factors").verdicts(factor_rows(), "cpu")
    assert [round(verdict.measured, 6) for verdict in verdicts] == [20.0, 20.0, 2.0, 2.0]
    assert "gain of BLEU, dropout .5" in verdicts[2].quantity
    assert "1.50 to 1.50, 2.50 to 2.50" in verdicts[2].note


def test_gains_over_a_preset_that_another_machine_translated_are_kept(tmp_path, figures):
    experiment, joined = find_experiment("quality-factors"), factor_rows(gains="")
    of_change = experiment.verdicts(joined, "cpu")[2:]
    assert [verdict.measured for verdict in of_change] == [2.0, 2.0]
    assert "not bootstrapped over sentences" in of_change[0].note
    experiment.plot(joined, tmp_path / "factors.png")
    assert [label.get_text() for label in figures[-1].axes[0].get_yticklabels()] == ["dropout .5"]
    assert sorted(line.get_xdata()[0] for line in figures[-1].axes[0].lines)[1:] == [1.5, 2.5]


def test_factors_are_drawn_and_judged_before_a_change_is_finished(tmp_path):
    experiment, preset = find_experiment("quality-factors"), factor_rows()[:2]
    experiment.plot(preset, tmp_path / "factors.png")
    assert (tmp_path / "factors.png").read_bytes().startswith(b"\x89PNG")
    assert [verdict.measured for verdict in experiment.verdicts(preset, "cpu")] == [20.0, 20.0]


def test_searches_use_models_that_differ_from_the_preset_in_seed_or_direction_or_family():
    first, second, convs2s, backward = find_experiment("search-factors").runs("cpu")
    assert first in find_experiment("quality-factors").runs("cpu")
    assert convs2s in find_experiment("quality-factors-convs2s").runs("cpu")
    assert {key for key, _, _ in first.config(1).differences(second.config(1))} == {"training.seed"}
    assert {key for key, _, _ in first.config(1).differences(backward.config(1))} == {"data.reversed"}
    assert len({run.name for run in (first, second, convs2s, backward)}) == 4


def test_searches_are_judged_by_their_gain_over_the_search_of_the_preset(tmp_path):
    rows = [
        {"search": name, "trial": 1, "bleu": bleu, "bleu_low": 9.0, "bleu_high": 12.0, "bleu_gain": bleu - 10,
         "bleu_gain_low": 0.5, "bleu_gain_high": 2.0, "chrf": 30.0, "chrf_low": 29.0, "chrf_high": 31.0,
         "chrf_gain": 0.0, "chrf_gain_low": -0.5, "chrf_gain_high": 0.5, "length_ratio": 0.9, "seconds": 60.0}
        for name, bleu in (("beam of 5", 10.0), ("beam of 20", 11.25))
    ]  # fmt: skip
    experiment = find_experiment("search-factors")
    verdicts = {verdict.quantity: verdict for verdict in experiment.verdicts(rows, "cpu")}
    assert verdicts["validation BLEU, beam of 5"].measured == 10.0
    assert verdicts["gain of BLEU, beam of 20"].measured == 1.25
    assert "0.50 to 2.00" in verdicts["gain of BLEU, beam of 20"].note
    assert "length ratio 0.900; 60 s" in verdicts["gain of BLEU, beam of 20"].note
    experiment.plot(rows, tmp_path / "search.png")
    assert (tmp_path / "search.png").read_bytes().startswith(b"\x89PNG")


def test_ablations_have_enough_trainings_for_a_claim():
    assert find_experiment("convs2s-ablations").num_seeds("cpu") >= FEWEST_TO_COMPARE


def test_ablations_change_the_model_of_the_contest_and_nothing_else():
    whole, *changed = find_experiment("convs2s-ablations").runs("cpu")
    assert whole in find_experiment("family-contest").runs("cpu")
    for run in changed:
        differences = whole.config(1).differences(run.config(1))
        assert differences
        assert all(key.startswith("model.") for key, _, _ in differences), run.name
