"""The engine that begins with LiteRT goes on with it if TensorFlow cannot take over."""

import os
import shutil
from types import SimpleNamespace

import pytest

from bytenet.errors import InputError
from bytenet.serving.engines.lite_engine import LiteEngine
from bytenet.serving.engines.starting_engine import StartingEngine


def test_litert_goes_on_if_tensorflow_cannot_load_the_model(model_path, monkeypatch, caplog, wait_for):
    def fail(path, **options):
        raise InputError("no memory")

    monkeypatch.setattr("bytenet.serving.engines.starting_engine.RunEngine", fail)
    engine = StartingEngine(model_path)
    engine.start_tensorflow()
    wait_for(lambda: not engine.is_starting, "The failure")
    assert engine.batch_sizes == (1,)
    assert engine.translate(["ein Hund"], 1) == LiteEngine(model_path).translate(["ein Hund"], 1)
    assert "no memory" in caplog.text


def test_litert_goes_on_if_the_file_is_replaced(model_path, monkeypatch, caplog, wait_for, tmp_path):
    unused = SimpleNamespace(make_graphs=lambda: pytest.fail("It is used."))
    monkeypatch.setattr("bytenet.serving.engines.starting_engine.RunEngine", lambda path, **options: unused)
    path, other = (shutil.copy(model_path, tmp_path / name) for name in ("model.bytenet", "other.bytenet"))
    engine = StartingEngine(path)
    os.replace(other, path)
    engine.start_tensorflow()
    wait_for(lambda: not engine.is_starting, "The failure")
    assert engine.batch_sizes == (1,)
    assert "has been replaced" in caplog.text
