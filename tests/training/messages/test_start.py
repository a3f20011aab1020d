"""Messages at the start of a training."""

import re

import pytest

from bytenet.training import train


@pytest.mark.parametrize(
    ("patience", "effect"),
    [
        ("2", "training.early_stopping_patience does nothing, and the last model is kept"),
        ("null", "the best model is not known, and the last one is kept"),
    ],
)
def test_no_validation_pairs_give_a_warning(
    smallest_config, without_validation, beginnings, tmp_path, capsys, patience, effect
):
    train(smallest_config(*without_validation, f"training.early_stopping_patience={patience}"), tmp_path / "run")
    assert f"no validation pairs, so {effect}. Give " in capsys.readouterr().err


def test_resuming_a_run_that_does_not_exist_is_said_to_begin_it(smallest_config, beginnings, tmp_path, capsys):
    train(smallest_config(), tmp_path / "run", resume=True)
    assert "run has no checkpoint yet, so the training starts from the beginning" in capsys.readouterr().err
    train(smallest_config(), tmp_path / "other")
    assert "checkpoint" not in capsys.readouterr().err


def test_warning_names_the_missing_validation_files_of_a_corpus(
    smallest_config, beginnings, tmp_path, monkeypatch, capsys
):
    folder = tmp_path / "data" / "tatoeba"
    folder.mkdir(parents=True)
    for language in ("de", "en"):
        (folder / f"train.{language}").write_text("ab\nb\nabb\n", encoding="utf-8")
    monkeypatch.setenv("BYTENET_DATA", str(folder.parent))
    nothing = [f"data.{name}=null" for name in ("num_train", "num_validation", "num_test")]
    train(smallest_config("data.corpus=tatoeba", *nothing), tmp_path / "run")
    files = "$BYTENET_DATA/tatoeba/val.de.gz and $BYTENET_DATA/tatoeba/val.en.gz"
    assert f"Put validation pairs into {files}." in capsys.readouterr().err


def test_targets_longer_than_the_length_rule_give_a_warning(smallest_config, beginnings, tmp_path, capsys):
    train(smallest_config("model.unfold_scale=0.2", "model.unfold_offset=0"), tmp_path / "run")
    said = capsys.readouterr().err
    assert "of the training targets are longer than the model may write" in said
    assert "Such translations will be cut off. Set model.unfold_scale or model.unfold_offset higher.\n" in said


def test_targets_longer_than_the_rule_of_a_start_do_not_ask_for_another_rule(
    smallest_config, supervised_run, beginnings, tmp_path, capsys
):
    start = supervised_run("start", "model.unfold_scale=0.2", "model.unfold_offset=0")
    train(smallest_config(f"training.start={start.path}"), tmp_path / "run")
    said = capsys.readouterr().err
    assert "Such translations will be cut off. The limit is that of the model that the run starts from.\n" in said
    assert "model.unfold_scale" not in said


def test_message_describes_the_monolingual_text(semi_config, beginnings, tmp_path, capsys):
    train(semi_config("semi_supervised.batch_size=5"), tmp_path / "run")
    said = capsys.readouterr().err
    assert re.search(
        r"monolingual source text: 32 sentences \(0 left out by [^)]*, 0 for [^)]*\); 7 batches a round; "
        r"1 batch shapes: 5 x \d+; searches for translations of up to 4 symbols; teaches the "
        r"forward and backward translator\n",
        said,
    )
    assert "monolingual target text" not in said


def test_message_says_that_text_teaches_nothing(semi_config, supervised_run, beginnings, tmp_path, capsys):
    start = supervised_run("start", "data.reversed=true")
    settings = ("semi_supervised.objective=back_translation", "semi_supervised.trained=forward")
    train(semi_config(*settings, f"semi_supervised.start_backward={start.path}"), tmp_path / "run")
    said = capsys.readouterr().err
    assert "monolingual source text: not used, because it teaches nothing with semi_supervised.objective" in said


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        (("semi_supervised.source_weight=0",), "warning: the training has pairs but no monolingual text"),
        (("data.num_monolingual=null",), "warning: the training has pairs but no monolingual text"),
        (
            ("semi_supervised.enabled=false",),
            "monolingual text: not used. `bytenet data back-translate` makes synthetic pairs from it\n",
        ),
        (
            ("semi_supervised.enabled=false", "semi_supervised.start_forward=nowhere"),
            "To train on pairs alone, set training.start to the start of the direction that you train.\n",
        ),
        (
            ("semi_supervised.enabled=false", "semi_supervised.objective=back_translation"),
            "\nsemi_supervised.target_weight 0.0, semi_supervised.beam_size 2, semi_supervised.objective "
            "back_translation and semi_supervised.bucketing none have no effect, because semi_supervised.enabled is "
            "false. To learn from monolingual text, set it to true.\n",
        ),
    ],
)
def test_message_explains_training_without_monolingual_text(semi_config, beginnings, tmp_path, capsys, settings, said):
    train(semi_config(*settings), tmp_path / "run")
    assert said in capsys.readouterr().err


def test_cut_off_translations_give_a_warning_for_their_direction(semi_config, beginnings, tmp_path, capsys):
    train(semi_config("model.unfold_scale=0.5", "model.unfold_offset=0"), tmp_path / "run")
    said = capsys.readouterr().err
    # Numerals are shorter than the words for them.
    assert "of the training sources are longer than the model may write for their targets" in said
    assert "of the training targets are longer" not in said


def test_text_gives_a_warning_if_the_pair_rule_cuts_its_translations_off(semi_config, beginnings, tmp_path, capsys):
    cut_off = "warning: translations of monolingual target text are cut off at the length of the text"
    settings = ("model.length_rule=pair", "semi_supervised.target_weight=0.1")
    train(semi_config(*settings), tmp_path / "run")
    said = capsys.readouterr().err
    assert cut_off in said
    # Number words are longer than numerals, so only translations of numerals are cut off.
    assert "translations of monolingual source text are cut off" not in said
    train(semi_config("semi_supervised.target_weight=0.1"), tmp_path / "unfold")
    assert "are cut off" not in capsys.readouterr().err


def test_changed_settings_without_effect_give_warnings(smallest_config, beginnings, tmp_path, capsys):
    settings = (
        "data.batch_chars=200", "data.batch_size=8", "training.optimizer=sgd", "training.beta_1=0.8",
        "training.devices=[CPU:0]", "training.sync_batch_norm=false", "training.exchange_dtype=bfloat16",
    )  # fmt: skip
    train(smallest_config(*settings), tmp_path / "run")
    said = capsys.readouterr().err
    assert "warning: data.batch_size 8 has no effect, because data.batch_chars is 200." in said
    assert "warning: training.beta_1 0.8 has no effect, because training.optimizer is sgd." in said
    devices = "training.sync_batch_norm false and training.exchange_dtype bfloat16 have no effect, because the batches"
    assert f"warning: {devices} are not split over several devices." in said


@pytest.mark.parametrize(
    ("settings", "warning"),
    [
        (
            "training.max_steps=7",
            "warning: training.max_steps 7 has no effect: the run has only 6 steps, with training.epochs 2. To ",
        ),
        ("training.max_steps=6", None),
        (
            "training.warmup_steps=6",
            "warning: the learning rate rises until the end, because training.warmup_steps is 6",
        ),
        ("training.warmup_steps=5", None),
        (
            "training.accumulate_batches=3 training.max_steps=2",
            "warning: the weights will not change: each update needs 3 batches (training.accumulate_batches), and",
        ),
    ],
)
def test_length_of_the_training_is_compared_with_the_settings(
    smallest_config, beginnings, tmp_path, capsys, settings, warning
):
    train(smallest_config(*settings.split()), tmp_path / "run")
    said = capsys.readouterr().err
    assert warning in said if warning else "warning" not in said
