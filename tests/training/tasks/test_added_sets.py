"""Runs whose model is deeper than that of the run which they start from."""

from dataclasses import replace

import numpy as np
import pytest

from bytenet.csv_log import read_csv_log
from bytenet.decoding import Translator
from bytenet.errors import ConfigError, InputError
from bytenet.models import build_model
from bytenet.run_folder import RunFolder
from bytenet.training import train

from .starting_runs import RECURRENT, failing_at_the_first_step


@pytest.mark.parametrize("kind", ["run", "file"])
@pytest.mark.parametrize(
    "settings",
    [
        (), ("model.source_attention=full",), ("model.source_attention=full", "model.attention_blocks=[1]"),
        ("model.block_size=small",), ("model.activation=selu",),
    ],
)  # fmt: skip
def test_added_sets_change_nothing_at_first(settings, kind, smallest_config, supervised_run, beginnings, tmp_path):
    start = supervised_run("start", "model.dim=8", "model.dilations=[1,2]", *settings)
    path = start.path
    if kind == "file":
        path = tmp_path / "start.bytenet"
        Translator.from_run(start.path).export(path, engines="full", languages=start.config.data.languages)
    folder = train(smallest_config(f"training.start={path}", "training.added_sets=2"), tmp_path / "run")
    saved = RunFolder.open(folder.path).config.model
    assert saved == replace(start.config.model, num_sets=3)
    deeper = build_model(saved, start.vocabulary.size)
    for weight, value in zip(deeper.weights, beginnings[0].weights, strict=True):
        weight.assign(value)
    random = np.random.default_rng(0)
    ids = {f"{side}_ids": random.integers(1, start.vocabulary.size, (2, 9)) for side in ("source", "target")}
    np.testing.assert_array_equal(deeper(ids), start.load_model()(ids))


def test_added_sets_learn_and_are_added_once(smallest_config, supervised_run, pool, unmeasured, tmp_path):
    start = supervised_run("start", "model.source_attention=full")
    settings = f"training.start={start.path}", "training.added_sets=1", "training.keep_model=last"
    train(smallest_config(*settings, "training.max_steps=2"), tmp_path / "run", models=pool)
    folder = train(smallest_config(*settings, "training.max_steps=4"), tmp_path / "run", resume=True, models=pool)
    assert folder.config.model.num_sets == 2
    assert read_csv_log(folder.metrics_path)["step"][-1] == 4
    model = folder.load_model()
    last = [model.encoder.blocks[-1].recover_dim, model.decoder.blocks[-1].recover_dim, model.decoder.attentions[-1]]
    assert all(np.any(weight) for layer in last for weight in layer.weights)


@pytest.mark.parametrize("name", ["encoder", "decoder"])
def test_no_set_becomes_the_identity_if_none_is_added(name, supervised_run):
    stack = getattr(supervised_run("start", "model.source_attention=full").load_model(), name)
    before = [np.array(weight) for weight in stack.weights]
    stack.make_last_sets_identity(0)
    for weight, value in zip(stack.weights, before, strict=True):
        np.testing.assert_array_equal(weight, value)


def test_number_of_added_sets_is_fixed_before_the_first_checkpoint(
    smallest_config, supervised_run, unmeasured, tmp_path, monkeypatch
):
    start = supervised_run("start")
    settings = f"training.start={start.path}", "training.max_steps=1"
    with pytest.raises(InputError, match="the loss is nan"), failing_at_the_first_step(monkeypatch):
        train(smallest_config(*settings, "training.added_sets=1"), tmp_path / "run")
    with pytest.raises(InputError, match=r"training\.added_sets was 1 and is 2"):
        train(smallest_config(*settings, "training.added_sets=2"), tmp_path / "run", resume=True)
    folder = train(smallest_config(*settings, "training.added_sets=1"), tmp_path / "run", resume=True)
    assert folder.config.model.num_sets == 2


def test_sets_are_added_only_to_a_bytenet_that_is_a_start(smallest_config, supervised_run, tmp_path):
    with pytest.raises(ConfigError, match=r"training\.added_sets adds to the model of training\.start"):
        train(smallest_config("training.added_sets=1"), tmp_path / "run")
    two = supervised_run("two", "model.num_sets=2")
    with pytest.raises(ConfigError, match=r"With the 2 of the start, the model would have more than 1,000 sets"):
        train(smallest_config(f"training.start={two.path}", "training.added_sets=999"), tmp_path / "run")
    start = supervised_run("start", *RECURRENT)
    config = smallest_config(f"training.start={start.path}", "training.added_sets=1")
    with pytest.raises(ConfigError, match="for the family bytenet; the start is a recurrent"):
        train(config, tmp_path / "run")
    assert not (tmp_path / "run").exists()
