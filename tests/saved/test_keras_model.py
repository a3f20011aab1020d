"""A model file gives values and arrays, and nothing else. What does not fit is refused before it is allocated."""

import io
import json
import pkgutil
import zipfile
from collections import Counter
from importlib import import_module

import h5py
import keras
import numpy as np
import pytest

from bytenet import layers, models, training
from bytenet.config.families import family_configs
from bytenet.config.families.bytenet import ByteNetConfig
from bytenet.errors import InputError
from bytenet.models import build_model
from bytenet.models.model_size import check_size
from bytenet.saved.keras_model import load_keras_model, save_model


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    path = tmp_path_factory.mktemp("model") / "model.keras"
    save_model(build_model(ByteNetConfig(dim=2, num_sets=1, dilations=(1,), dropout=0.5), vocab_size=5), path)
    return path


def rewritten(saved, tmp_path, change, compression=zipfile.ZIP_STORED):
    """A copy of a model file whose members `change` has changed."""
    with zipfile.ZipFile(saved) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    change(members)
    path = tmp_path / "changed.keras"
    with zipfile.ZipFile(path, "w", compression) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return path


def with_setting(**values):
    def change(members):
        content = json.loads(members["config.json"])
        content["config"] |= values
        members["config.json"] = json.dumps(content).encode()

    return change


def test_what_the_file_names_as_a_class_is_not_looked_at(saved, tmp_path):
    def change(members):
        content = json.loads(members["config.json"])
        content |= {"module": "os", "class_name": "system", "registered_name": "x", "build_config": {"input_shape": 0}}
        content["config"]["name"] = {"module": "builtins", "class_name": "eval", "config": {}}
        members["config.json"] = json.dumps(content).encode()

    loaded = load_keras_model(rewritten(saved, tmp_path, change))
    for weight, expected in zip(loaded.weights, load_keras_model(saved).weights, strict=True):
        np.testing.assert_array_equal(weight, expected)


def test_no_two_classes_are_registered_by_the_same_name():
    names = Counter()
    for package in (layers, models, training):
        for found in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
            classes = (value for value in vars(import_module(found.name)).values() if isinstance(value, type))
            own = (kind for kind in classes if kind.__module__ == found.name)
            names.update(map(keras.saving.get_registered_name, own))
    registered = {name: number for name, number in names.items() if name.startswith("bytenet>")}
    assert "bytenet>SourceAttention" in registered
    assert [name for name, number in registered.items() if number > 1] == []


def test_the_arrays_of_saved_models_keep_their_names(tmp_path):
    """Keras names the layers of a list by their class. With another name, older models could not be loaded."""
    config = ByteNetConfig(dim=2, num_sets=1, dilations=(1,), source_attention="full", attention_heads=1)
    save_model(build_model(config, vocab_size=5), tmp_path / "model.keras")
    with zipfile.ZipFile(tmp_path / "model.keras") as archive, h5py.File(archive.open("model.weights.h5")) as file:
        assert [*file["decoder/attentions"]] == ["source_attention"]
        assert [*file["decoder/sets"]] == ["residual_set"]


def test_the_dtype_policy_is_kept(saved, tmp_path):
    assert load_keras_model(saved).dtype_policy.name == "float32"
    policy = {"module": "keras", "class_name": "DTypePolicy", "config": {"name": "mixed_bfloat16"}}
    mixed = load_keras_model(rewritten(saved, tmp_path, with_setting(dtype=policy)))
    assert mixed.dtype_policy.name == "mixed_bfloat16"


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (with_setting(dim=400_000), r"has \d{1,3}(,\d{3})+ parameters; expected at most 2,000,000,000"),
        (with_setting(dim=4), "its arrays have [0-9,]+ numbers, but its configuration needs"),
        (with_setting(dim="x"), "its configuration is damaged"),
        (with_setting(vocab_size=10**30), "vocab_size is no number of symbols"),
        (with_setting(vocab_size=None), "vocab_size is no number of symbols"),
        (with_setting(family="os"), "there is no family 'os'"),
        (with_setting(dtype="eval"), "there is no dtype policy 'eval'"),
        (lambda members: members.update({"config.json": b"[" * 5000}), "config.json is damaged"),
        (lambda members: members.update({"config.json": b" " * 70_000}), "config.json in it .* more than 65,536 bytes"),
        (lambda members: members.pop("model.weights.h5"), "no item named 'model.weights.h5'"),
    ],
)
def test_other_content_is_refused(saved, tmp_path, change, message):
    with pytest.raises(InputError, match=rf"changed\.keras cannot be loaded: .*{message}"):
        load_keras_model(rewritten(saved, tmp_path, change))


def test_compressed_weights_are_refused(saved, tmp_path):
    with pytest.raises(InputError, match=r"config\.json in it is compressed"):
        load_keras_model(rewritten(saved, tmp_path, lambda members: None, zipfile.ZIP_DEFLATED))


def test_an_array_that_claims_more_than_the_file_has_is_refused(saved, tmp_path):
    def change(members):
        content = io.BytesIO()
        with h5py.File(content, "w") as file:
            file.create_dataset("vars/0", shape=(10**11,), dtype="f4", chunks=(1000,))
        members["model.weights.h5"] = content.getvalue()

    with pytest.raises(InputError, match=r"its arrays claim 100,000,000,000 numbers, but the file has"):
        load_keras_model(rewritten(saved, tmp_path, change))


@pytest.mark.parametrize("family", family_configs())
def test_the_size_of_a_model_is_known_before_it_is_built(family):
    config = family_configs()[family]()
    assert check_size(config, 9) == build_model(config, 9).count_params()
