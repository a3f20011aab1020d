"""The learning rate is cut when the validation set shows no progress."""

from types import SimpleNamespace

import pytest

from bytenet.config import TrainingConfig
from bytenet.csv_log import read_csv_log
from bytenet.errors import ConfigError
from bytenet.training import train
from bytenet.training.callbacks import PlateauCuts
from bytenet.training.plateau import Plateau, cut_after
from bytenet.training.state import TrainingState

FAST = (
    "training.schedule=plateau",
    "training.plateau_rule=fast",
    "training.decay_factor=0.1",
    "evaluation.num_samples=0",
)

NAG = ("training.optimizer=nag", "training.optimizer_arguments={momentum: 0.5}")


@pytest.mark.parametrize(
    ("settings", "scores", "expected"),
    [
        # Fast: after the first epoch without progress, a cut every epoch.
        ({"plateau_rule": "fast"}, [3, 2, 2.1, 1.9], [3, 4]),
        ({"plateau_rule": "fast"}, [3, 3, 2, 1], [2, 3, 4]),  # an equal score is no progress
        ({"plateau_rule": "fast"}, [3, 2, 1, 0.9], []),
        # Best: a cut after each epoch that is no better than the best.
        ({}, [3, 2, 2.1, 1.9], [3]),
        ({}, [3, 2, 2.2, 2.1, 2, 1.9], [3, 4, 5]),
        ({"plateau_patience": 2}, [3, 2, 2.2, 2.1, 2, 2, 1.9, 2, 1.8, 2, 2], [4, 6, 11]),
        # More is better.
        ({"early_stopping_metric": "val_bleu"}, [1, 2, 1.5, 2.1, 2.1], [3, 5]),
        ({"early_stopping_metric": "val_chrf", "plateau_rule": "fast"}, [1, 2, 1.5, 2.1], [3, 4]),
        ({}, [3, float("nan"), 2], [2]),
        ({}, [float("nan"), 2, 1], []),
    ],
)
def test_epochs_with_a_cut(settings, scores, expected):
    config, plateau = TrainingConfig(schedule="plateau", **settings), Plateau()
    cuts = [epoch for epoch, score in enumerate(scores, 1) if cut_after(score, epoch, plateau, config)]
    assert cuts == expected
    assert plateau.cuts == len(expected)


def test_run_of_the_fast_rule_ends_below_the_least_rate(smallest_config, val_losses, pool, tmp_path, capsys):
    settings = (*FAST, "training.epochs=9", "training.learning_rate=0.25", "training.min_learning_rate=1e-4")
    config = smallest_config(*settings, *NAG)
    val_losses(3.0, 2.0, 2.1, 1.9, 1.8, 1.7, 1.6)
    folder = train(config, tmp_path / "run", models=pool)
    # The log shows the rate of the next step.
    rates = [0.25, 0.25, 0.025, 0.0025, 0.00025, 0.000025]
    assert read_csv_log(folder.metrics_path)["learning_rate"] == pytest.approx(rates, rel=1e-5)
    messages = capsys.readouterr().err
    assert "val_loss made no progress: the learning rate is now 0.025\n" in messages
    further = (
        "training.plateau_rule fast cuts after each further measurement of val_loss: the learning rate is now 0.0025"
    )
    assert f"{further}\n" in messages
    assert messages.count("made no progress") == 1
    assert "The learning rate is below training.min_learning_rate, so training stops." in messages

    assert train(config, tmp_path / "run", resume=True, models=pool).path == folder.path
    said = capsys.readouterr().err
    assert "To train longer, set training.min_learning_rate to less than 0.0001: bytenet train --resume" in said
    assert read_csv_log(folder.metrics_path)["epoch"] == [1, 2, 3, 4, 5, 6]

    # The next run with this model starts at its own rate.
    val_losses(3.0, 2.0)
    other = train(smallest_config(*settings, *NAG, "training.epochs=2"), tmp_path / "other", models=pool)
    assert read_csv_log(other.metrics_path)["learning_rate"] == pytest.approx([0.25, 0.25], rel=1e-5)


@pytest.mark.parametrize(("rule", "step"), [("fast", 7), pytest.param("best", 5, marks=pytest.mark.thorough)])
def test_run_stopped_after_a_cut_resumes_bit_identical(
    smallest_config, equal_final_states, val_losses, eagerly, interrupted, tmp_path, rule, step
):
    losses = (3.0, 2.0, 2.1, 1.9)
    config = smallest_config(
        *FAST, f"training.plateau_rule={rule}", "training.epochs=4", "training.optimizer=nag", "model.dropout=0.2",
        "data.num_train=32",
    )  # fmt: skip
    assert config.data.batch_size == 16  # two steps an epoch
    val_losses(*losses)
    train(config, tmp_path / "unbroken")
    val_losses(*losses[:3])
    with interrupted(step), pytest.raises(KeyboardInterrupt):
        train(config, tmp_path / "stopped")
    val_losses(*losses[step // 2 :])
    train(config, tmp_path / "stopped", resume=True)
    state, _ = equal_final_states(tmp_path / "stopped", tmp_path / "unbroken")
    assert state["plateaus"]["forward"]["cuts"] == (2 if rule == "fast" else 1)
    assert state["step"] == 8
    rates = read_csv_log(tmp_path / "stopped" / "metrics.csv")["learning_rate"]
    expected = [1, 1, 0.1, 0.01 if rule == "fast" else 0.1]
    assert rates == pytest.approx([factor * config.training.learning_rate for factor in expected], rel=1e-5)


@pytest.mark.parametrize(
    "end", [("training.max_steps=3",), ("training.epochs=3", "evaluation.every_epochs=2")], ids=["in an epoch", "epoch"]
)
def test_evaluation_that_only_the_end_of_a_run_needs_cuts_nothing(smallest_config, val_losses, eagerly, tmp_path, end):
    config = smallest_config(*FAST, "data.num_train=32", *end)  # two steps an epoch
    val_losses(2.0, 3.0)
    log = read_csv_log(train(config, tmp_path / "run").metrics_path)
    assert log["val_loss"][-2:] == [2.0, 3.0]
    assert log["learning_rate"][-2:] == pytest.approx([config.training.learning_rate] * 2)


def _translators(rates, *names):
    """Translators by name, whose learning rates are put into a dictionary."""
    return {
        name: SimpleNamespace(
            optimizer=SimpleNamespace(
                schedule=SimpleNamespace(set_rate=lambda rate, name=name: rates.update({name: rate}))
            )
        )
        for name in names
    }


def test_a_cut_that_does_not_change_the_rate_is_not_said(smallest_config):
    config = smallest_config(*FAST, "training.learning_rate=1.0", "training.final_learning_rate=0.1")
    state, messages = TrainingState(), []
    progress = SimpleNamespace(say=messages.append)
    cuts = PlateauCuts(_translators({}, "forward"), ["forward"], state, config, progress)
    for state.epoch in (1, 2, 3):
        cuts.on_epoch_end(state.epoch - 1, {"val_loss": 3.0})
    assert state.plateaus["forward"].cuts == 2
    assert messages == ["val_loss made no progress: the learning rate is now 0.1"]


def test_each_translator_has_its_own_cuts(smallest_config):
    rates = {}
    translators = _translators(rates, "forward", "backward")
    config = smallest_config(*FAST, "training.learning_rate=1.0", "training.min_learning_rate=0.05")
    state, messages = TrainingState(), []
    cuts = PlateauCuts(translators, ["forward", "backward"], state, config, SimpleNamespace(say=messages.append))
    cuts.set_model(SimpleNamespace(stop_training=False))
    cuts.on_train_begin({})
    assert rates == {"forward": 1.0, "backward": 1.0}
    for epoch, (forward, backward) in enumerate([(3, 3), (2, 4), (2, 4)], 1):
        state.epoch = epoch
        cuts.on_epoch_end(epoch - 1, {"val_loss": forward, "val_backward_loss": backward})
    assert rates == pytest.approx({"forward": 0.1, "backward": 0.01})
    assert messages[0] == "val_backward_loss made no progress: the learning rate is now 0.1"
    # The run goes on as long as a rate is high enough.
    assert not cuts.model.stop_training
    state.epoch = 4
    cuts.on_epoch_end(3, {"val_loss": 1, "val_backward_loss": 1})
    assert cuts.model.stop_training


def test_plateau_without_validation_pairs_is_refused(smallest_config, without_validation, tmp_path):
    config = smallest_config(*without_validation, "training.schedule=plateau")
    with pytest.raises(ConfigError, match=r"schedule: plateau .* there are none\. Give .*validation_source.* Or "):
        train(config, tmp_path / "run")
    assert not (tmp_path / "run").exists()
