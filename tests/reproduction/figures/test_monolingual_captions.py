"""The experiment on monolingual captions: its comparisons and verdicts."""

import re
from dataclasses import asdict
from pathlib import Path
from types import SimpleNamespace

import pytest

from bytenet.config import load_config
from bytenet.reproduction.engine.experiment import Work
from bytenet.reproduction.figures.captions import monolingual_captions as captions
from bytenet.reproduction.figures.captions import runs as trainings
from bytenet.reproduction.figures.captions import tuning

BOTH_EXPERIMENTS = CAPTIONS, TUNING = *captions.EXPERIMENTS, *tuning.EXPERIMENTS
CONTROL, BACK, MARGINAL = trainings.CONTROL, trainings.BACK, trainings.MARGINAL


def row(way, seed, bleu, gain=None, chrf=30.0):
    interval = {"bleu_low": bleu - 1, "bleu_high": bleu + 1, "chrf_low": chrf - 1, "chrf_high": chrf + 1}
    gains = {f"{key}_gain{end}": "" for key in ("bleu", "chrf") for end in ("", "_low", "_high")}
    if gain is not None:
        gains |= {"bleu_gain": gain, "bleu_gain_low": gain - 0.5, "bleu_gain_high": gain + 0.5}
    training = {"val_loss": 1.0, "val_bleu": bleu, "val_chrf": chrf, "best_step": 8, "steps": 9, "minutes": 20.0}
    training["length_ratio"] = 0.9
    return {"way": way, "trial": seed, "bleu": bleu, "chrf": chrf, **interval, **gains, **training}


def gain_verdict(verdicts, way, against=CONTROL, score="BLEU"):
    (found,) = [verdict for verdict in verdicts if verdict.quantity == f"{score}, {way} minus {against}"]
    return found


def test_all_ways_have_equally_many_tries_and_one_is_chosen():
    assert len({len(set(choices)) for choices in trainings.TRIES.values()}) == 1
    assert trainings.CHOSEN.keys() == trainings.WAYS.keys()
    for way, choice in trainings.CHOSEN.items():
        assert choice in trainings.TRIES[trainings.PAIRS if way == trainings.BACKWARD else way]


@pytest.mark.parametrize("scale", ["smoke", "cpu", "thesis"])
def test_ways_differ_only_in_their_defining_settings(scale):
    runs = {way: trainings.training_of(way, scale, trainings.Choice(0.2, 1.0)).config(1) for way in trainings.WAYS}
    control = runs[CONTROL]
    allowed = {
        "training.max_steps", "training.epochs", "evaluation.every_epochs", "semi_supervised.source_weight",
        "semi_supervised.target_weight", "semi_supervised.objective", "semi_supervised.beam_size",
        "semi_supervised.trained",
    }  # fmt: skip
    for way, config in runs.items():
        if trainings.WAYS[way].started:
            assert {key for key, _, _ in control.differences(config)} <= allowed
    changed = {key for key, _, _ in runs[trainings.PAIRS].differences(runs[trainings.BACKWARD])}
    assert changed == {"data.reversed"}
    assert (control.semi_supervised.source_weight, control.semi_supervised.target_weight) == (0, 0)
    once = runs[trainings.BACK_ONCE].semi_supervised
    assert (once.source_weight, once.target_weight, once.trained) == (0, 1.0, "forward")
    objectives = {way: (runs[way].semi_supervised.objective, runs[way].semi_supervised.beam_size) for way in runs}
    assert objectives[MARGINAL] == ("marginal", 5)
    assert objectives[BACK] == objectives[trainings.BACK_ONCE] == ("back_translation", 1)
    assert not runs[trainings.PAIRS].semi_supervised.enabled


def test_all_started_ways_start_from_the_same_two_trainings():
    starts = {
        tuple(start.run.name for start in trainings.training_of(way, "cpu").starts)
        for way, one in trainings.WAYS.items()
        if one.started
    }
    names = tuple(trainings.training_of(way, "cpu").name for way in (trainings.PAIRS, trainings.BACKWARD))
    assert starts == {names}


@pytest.mark.parametrize("scale", ["smoke", "cpu"])
def test_chosen_settings_are_not_trained_twice(scale):
    shown, tried = (experiment.runs(scale) for experiment in BOTH_EXPERIMENTS)
    settings = {}
    for run in (*shown, *tried):
        assert settings.setdefault(run.name, run.settings) == run.settings
    if scale == "cpu":
        assert {trainings.training_of(way, scale).name for way in trainings.TRIES} <= {run.name for run in tried}
        assert len({run.name for run in tried}) == sum(map(len, trainings.TRIES.values()))


def test_scores_of_a_training_come_from_its_kept_model(tmp_path):
    lines = [
        "epoch,step,seconds,val_loss,val_bleu,val_chrf",
        "1,10,60,1.5,3,20",
        "2,20,120,,,",
        "3,30,240,1.2,6,28",
        "4,40,300,1.1,7,27",
    ]
    (tmp_path / "metrics.csv").write_text("".join(f"{line}\n" for line in lines))
    columns = trainings.kept_and_last_scores_of(SimpleNamespace(metrics_path=tmp_path / "metrics.csv"))
    assert columns == {
        "val_loss": 1.2, "val_bleu": 6, "val_chrf": 28, "last_val_loss": 1.1, "last_val_bleu": 7, "last_val_chrf": 27,
        "best_step": 30, "steps": 40, "minutes": 5,
    }  # fmt: skip


def test_text_helps_only_if_whole_interval_over_seeds_is_positive():
    def table(bleus):
        rows = [row(CONTROL, seed, 8.0) for seed in (1, 2, 3)]
        return rows + [row(BACK, seed, bleu, bleu - 8) for seed, bleu in enumerate(bleus, start=1)]

    clear = gain_verdict(CAPTIONS.verdicts(table([9.0, 9.1, 9.2]), "cpu"), BACK)
    assert clear.outcome == "shown"
    assert clear.measured == pytest.approx(1.1)
    assert clear.interval[0] > 0
    assert "0.50 to 1.50" in clear.note
    assert gain_verdict(CAPTIONS.verdicts(table([9.0, 8.1, 7.6]), "cpu"), BACK).outcome == "not shown"
    assert "worse" not in gain_verdict(CAPTIONS.verdicts(table([9.0, 8.1, 7.6]), "cpu"), BACK).note
    for part in ([9.0], [9.0, 9.1]):
        assert gain_verdict(CAPTIONS.verdicts(table(part), "cpu"), BACK).outcome == "no claim", "not all seeds"
    worse = gain_verdict(CAPTIONS.verdicts(table([7.0, 7.1, 7.2]), "cpu"), BACK)
    assert worse.outcome == "not shown"
    assert worse.note.startswith("it is worse")


def test_gains_over_the_pairs_alone_are_reported_too():
    rows = [row(CONTROL, seed, 7.0) for seed in (1, 2, 3)] + [row(trainings.PAIRS, seed, 9.0) for seed in (1, 2, 3)]
    rows += [row(BACK, seed, bleu) for seed, bleu in enumerate((8.0, 8.1, 8.2), start=1)]
    verdicts = CAPTIONS.verdicts(rows, "cpu")
    assert gain_verdict(verdicts, BACK).outcome == "shown"
    over_pairs = gain_verdict(verdicts, BACK, trainings.PAIRS)
    assert (over_pairs.measured, over_pairs.outcome) == (pytest.approx(-0.9), "no claim"), "trained less long"


def test_gains_over_a_control_from_elsewhere_have_no_bootstrap():
    verdict = gain_verdict(CAPTIONS.verdicts([row(CONTROL, 1, 8.0), row(BACK, 1, 9.0)], "cpu"), BACK)
    assert (verdict.measured, verdict.note) == (1.0, "not bootstrapped over sentences")


def test_marginal_is_compared_with_back_translation_by_seed():
    table = [
        row(BACK, 1, 9.0),
        row(BACK, 2, 10.0),
        row(MARGINAL, 1, 10.0),
        row(MARGINAL, 2, 11.0),
        row(MARGINAL, 3, 0.0),
    ]
    verdict = gain_verdict(CAPTIONS.verdicts(table, "cpu"), MARGINAL, BACK)
    assert (verdict.measured, verdict.seeds, verdict.outcome) == (1.0, 2, "no claim")


def test_choice_that_is_not_the_best_try_is_reported():
    def table(best):
        return [
            {
                "way": trainings.PAIRS, "dropout": choice.dropout, "weight": 0.0, "trial": 1, "val_loss": 1.0,
                "val_bleu": 7.0, "val_chrf": 28.0 if choice == best else 27.0, "best_step": 1, "steps": 2,
                "minutes": 3.0,
            }
            for choice in trainings.TRIES[trainings.PAIRS]
        ]  # fmt: skip

    chosen = trainings.CHOSEN[trainings.PAIRS]
    other = next(choice for choice in trainings.TRIES[trainings.PAIRS] if choice != chosen)
    for best, told in ((chosen, False), (other, True)):
        (verdict,) = TUNING.verdicts(table(best), "cpu")
        assert (verdict.outcome, verdict.measured) == ("no claim", 28.0)
        assert verdict.note.count("chrF") == len(trainings.TRIES[trainings.PAIRS])
        assert ("takes another: dropout 0.2" in verdict.note) == told
        (of_a_part,) = TUNING.verdicts(table(best)[1:], "cpu")
        assert of_a_part.note.endswith("; 1 to come")


def test_unfinished_trainings_are_not_measured(tmp_path):
    work = Work("smoke", (1, 2), tmp_path)
    assert [experiment.measure(work) for experiment in BOTH_EXPERIMENTS] == [[], []]


def test_user_settings_in_the_documentation_match_the_preset(tmp_path):
    page = (Path(__file__).parents[3] / "docs" / "semi-supervised.md").read_text(encoding="utf-8")
    for name, content in zip(("few", "mine"), re.findall(r"```yaml\n(.*?)```", page, re.DOTALL), strict=True):
        (tmp_path / f"{name}.yaml").write_text(content, encoding="utf-8")
    on_captions = [f"data.{setting}" for setting in ("corpus=multi30k", "source_language=de", "target_language=en")]
    assert load_config(tmp_path / "few.yaml").model == load_config("pairs-2k-bahdanau", on_captions).model
    mine, preset = load_config(tmp_path / "mine.yaml"), load_config("multi30k-semi")
    assert mine.semi_supervised == preset.semi_supervised
    assert (mine.decoding.beam_size, mine.decoding.length_penalty) == (5, preset.decoding.length_penalty)
    for section in ("model", "training", "data", "evaluation"):
        given = {key: value for key, value in asdict(getattr(mine, section)).items() if not key.endswith("_source")}
        theirs = asdict(getattr(preset, section))
        differing = {key for key in given if given[key] != theirs[key] and not key.endswith("_target")}
        assert differing <= {"corpus", "max_train_pairs"}
    assert mine.data.train_source.endswith("pairs.de")
    assert mine.data.monolingual_target.endswith("more.en")


def test_trainings_that_kept_their_start_model_are_reported():
    improved, kept = row(MARGINAL, 1, 9.0), row(MARGINAL, 2, 9.0) | {"best_step": 0}
    note = CAPTIONS.verdicts([improved, kept], "cpu")[0].note
    assert note.endswith("starting weights kept in 1, because no later epoch was better")
    assert "kept" not in CAPTIONS.verdicts([improved], "cpu")[0].note
    control = [row(CONTROL, seed, 9.5) for seed in (1, 2)]
    assert (
        "starting weights kept in 1"
        in gain_verdict(CAPTIONS.verdicts([improved, kept, *control], "cpu"), MARGINAL).note
    )
    back = [row(BACK, seed, 9.5) for seed in (1, 2)]
    assert (
        "starting weights kept in 1"
        in gain_verdict(CAPTIONS.verdicts([improved, kept, *back], "cpu"), MARGINAL, BACK).note
    )

    tried = {"way": MARGINAL, "dropout": 0.2, "weight": 0.3, "val_chrf": 28.0, "val_bleu": 7.0, "minutes": 3.0}
    notes = [TUNING.verdicts([tried | {"best_step": step}], "cpu")[0].note for step in (0, 206)]
    assert ["were kept" in note for note in notes] == [True, False]


def test_picture_of_partial_results_is_drawn(tmp_path):
    table = [row(CONTROL, 1, 8.0), row(BACK, 1, 9.0, 1.0), row(BACK, 2, 9.5)]
    CAPTIONS.plot(table, tmp_path / "part.png")
    assert (tmp_path / "part.png").read_bytes().startswith(b"\x89PNG")
