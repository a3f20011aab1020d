"""Checkpoints hold all variables. They are written completely or not at all."""

import errno
import io
import zipfile

import keras
import numpy as np
import pytest

from bytenet.config.families.bytenet import ByteNetConfig
from bytenet.errors import InputError, MissingFileError
from bytenet.models import ByteNet
from bytenet.saved.keras_model import save_model
from bytenet.training.checkpoints import (
    checkpoints,
    latest_checkpoint,
    restore_checkpoint,
    save_checkpoint,
    training_variables,
)
from bytenet.training.losses import SentenceCrossEntropy
from bytenet.training.optimizers.flat_adam import FlatAdam
from bytenet.training.optimizers.keras_optimizer import KerasOptimizer
from bytenet.training.plateau import Plateau
from bytenet.training.state import TrainingState

IDS = np.array([[3, 4, 5, 1, 0], [6, 1, 0, 0, 0]], "int32")


def model_to_train(optimizer, dim=4):
    model = ByteNet(ByteNetConfig(dim=dim, num_sets=1, dilations=(1, 2), dropout=0.5), vocab_size=8, name="bytenet")
    model.build({"source_ids": (None, None), "target_ids": (None, None)})
    model.compile(optimizer, SentenceCrossEntropy(), run_eagerly=True)  # one step is faster than tracing it
    model.optimizer.build(model.trainable_variables)
    return model


def trained_model(seed=1):
    keras.utils.set_random_seed(seed)
    model = model_to_train(FlatAdam(1e-2, ema_momentum=0.5))
    model.train_on_batch({"source_ids": IDS, "target_ids": IDS}, IDS)
    return model


def values_of(model):
    variables = training_variables(model, [model])
    return {name: keras.ops.convert_to_numpy(variable) for name, variable in variables.items()}


@pytest.fixture(scope="module")
def model():
    return trained_model()


def test_every_variable_is_restored(model, tmp_path):
    plateaus = {"forward": Plateau(cuts=2, score=1.25, epoch=7)}
    state = TrainingState(
        epoch=2, batch=3, step=17, best_scores={"forward": 1.5}, plateaus=plateaus, characters=99, data="ab"
    )
    path = save_checkpoint(tmp_path / "new folder", model, [model], state, keep=3)
    saved = values_of(model)
    other = trained_model(seed=2)
    assert restore_checkpoint(path, other, [other]) == state
    restored = values_of(other)
    assert saved.keys() == restored.keys()
    for name, value in saved.items():
        np.testing.assert_array_equal(value, restored[name], err_msg=name)


@pytest.mark.parametrize(("saved", "best"), [(1.5, {"forward": 1.5}), (None, {})])
def test_states_of_older_versions_with_one_best_score_are_read(saved, best):
    state = TrainingState(step=17, best_scores=best, best_epoch=3)
    before = state.to_dict() | {"best_score": saved}
    del before["best_scores"], before["plateaus"]
    assert TrainingState.from_dict(before) == state == TrainingState.from_dict(state.to_dict())


def test_checkpoint_holds_everything_that_training_changes(model):
    names = training_variables(model, [model])
    paths = {variable.path for variable in model.weights}
    assert paths <= {name.split("/", 2)[2] for name in names}
    assert sum("moving_mean" in name for name in names) == 6  # two encoder blocks with three norms each
    assert sum("seed_generator_state" in name for name in names) == 4
    assert sum(name.startswith("optimizer/") for name in names) >= 5


def test_variable_names_do_not_depend_on_earlier_models():
    first, second = (model_to_train(KerasOptimizer(keras.optimizers.Nadam, 0.1)) for _ in range(2))
    assert training_variables(first, [first]).keys() == training_variables(second, [second]).keys()


def test_a_checkpoint_of_another_model_is_refused_and_changes_nothing(model, tmp_path):
    other = model_to_train(FlatAdam(1e-2, ema_momentum=0.5), dim=6)
    path = save_checkpoint(tmp_path, other, [other], TrainingState(), keep=1)
    before = model.get_weights()
    with pytest.raises(InputError, match=r"does not fit this model.*configuration"):
        restore_checkpoint(path, model, [model])
    for old, new in zip(before, model.get_weights(), strict=True):
        np.testing.assert_array_equal(old, new)


@pytest.mark.parametrize("share", [0.0, 0.5, 0.99])
def test_a_damaged_checkpoint_is_refused_with_advice(model, tmp_path, share):
    path = save_checkpoint(tmp_path, model, [model], TrainingState(step=5), keep=1)
    content = path.read_bytes()
    path.write_bytes(content[: int(len(content) * share)])
    with pytest.raises(InputError, match=r"damaged.*Delete it"):
        restore_checkpoint(path, model, [model])


def test_advice_on_a_damaged_checkpoint_depends_on_what_else_there_is(model, tmp_path):
    folder = tmp_path / "checkpoints"
    paths = [save_checkpoint(folder, model, [model], TrainingState(step=step), keep=2) for step in (4, 5)]
    paths[1].write_bytes(b"")
    with pytest.raises(InputError, match="resumes from the one before it"):
        restore_checkpoint(paths[1], model, [model])
    paths[0].unlink()
    with pytest.raises(InputError, match=r"Delete it; the run then begins again\."):
        restore_checkpoint(paths[1], model, [model])
    (tmp_path / "model.keras").touch()
    with pytest.raises(InputError, match=r"no other checkpoint\. Bring back a copy"):
        restore_checkpoint(paths[1], model, [model])


def _rewrite(path, name, content):
    """Give a checkpoint another member."""
    with zipfile.ZipFile(path) as archive:
        members = {member: archive.read(member) for member in archive.namelist()}
    with zipfile.ZipFile(path, "w") as archive:
        for member, kept in (members | {name: content}).items():
            archive.writestr(member, kept)


def _npy(array):
    content = io.BytesIO()
    np.save(content, array)
    return content.getvalue()


def _header(shape, dtype="<f4"):
    content = io.BytesIO()
    np.lib.format.write_array_header_1_0(content, {"descr": dtype, "fortran_order": False, "shape": shape})
    return content.getvalue()


def _state(text):
    return _npy(np.frombuffer(text.encode(), "uint8"))


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("first", _header((100_000, 1_000_000)), r"damaged \(.* claims 400,000,000,\d+ bytes and has"),
        ("first", _npy(np.array(["text"])), "does not fit this model: 1 variables differ; the first is model/0000"),
        ("first", _header((2**62, 2**62)), "damaged"),
        ("first", _header((1,), "|O"), "damaged"),
        ("first", b"no array", "damaged"),
        ("first", b"\x93NUMPY\x01\x00v\x00{'descr': (((", "damaged"),
        ("more.npy", _npy(np.zeros(3)), "does not fit this model: 1 variables differ; the first is more"),
        ("training_state.npy", _npy(np.zeros(3)), "damaged.*it has no array training_state"),
        ("training_state.npy", _state("{"), "damaged"),
        ("training_state.npy", _state("[" * 100_000), "damaged"),
        ("training_state.npy", _state('{"step": -1}'), "damaged"),
        ("training_state.npy", _state('{"stepp": 1}'), "damaged"),
        ("training_state.npy", _state('{"plateaus": {"forward": {"cuts": "x"}}}'), "damaged"),
    ],
)
def test_a_checkpoint_with_other_content_is_refused_and_changes_nothing(model, tmp_path, name, content, message):
    other = trained_model(seed=2)
    path = save_checkpoint(tmp_path, other, [other], TrainingState(step=5), keep=1)
    first = f"{next(iter(training_variables(model, [model])))}.npy"
    _rewrite(path, first if name == "first" else name, content)
    before = values_of(model)
    with pytest.raises(InputError, match=rf"(?s){message}"):
        restore_checkpoint(path, model, [model])
    for variable, value in values_of(model).items():
        np.testing.assert_array_equal(value, before[variable])


def test_nothing_is_restored_if_the_run_cannot_go_on_from_the_state(model, tmp_path):
    other = trained_model(seed=2)
    path = save_checkpoint(tmp_path, other, [other], TrainingState(step=5), keep=1)
    before = values_of(model)

    def refuse(state):
        assert state == TrainingState(step=5)
        raise InputError("another corpus")

    with pytest.raises(InputError, match="another corpus"):
        restore_checkpoint(path, model, [model], refuse)
    for name, value in values_of(model).items():
        np.testing.assert_array_equal(value, before[name])


def test_a_missing_checkpoint_is_named(model, tmp_path):
    with pytest.raises(MissingFileError, match="step-7"):
        restore_checkpoint(tmp_path / "step-7.npz", model, [model])


def test_full_disk_keeps_the_previous_checkpoint_and_no_partial_file(model, tmp_path, monkeypatch):
    save_checkpoint(tmp_path, model, [model], TrainingState(step=1), keep=1)

    def fill_disk(file, **arrays):
        file.write(b"half of it")
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("bytenet.training.checkpoints.content.np.savez", fill_disk)
    with pytest.raises(InputError, match=r"disk is full.*step-00000002"):
        save_checkpoint(tmp_path, model, [model], TrainingState(step=2), keep=1)
    assert [path.name for path in tmp_path.iterdir()] == ["step-00000001.npz"]


def test_checkpoints_are_in_the_order_of_their_steps(tmp_path):
    steps = (99_999_999, 100_000_000)  # eight digits and nine
    for step in steps:
        (tmp_path / f"step-{step:08d}.npz").touch()
    assert [path.name for path in checkpoints(tmp_path)] == [f"step-{step}.npz" for step in steps]


def test_partial_file_of_a_killed_process_is_no_checkpoint(model, tmp_path):
    path = save_checkpoint(tmp_path, model, [model], TrainingState(step=1), keep=1)
    (tmp_path / ".partial-1234-step-00000002.npz").write_bytes(b"half")
    assert checkpoints(tmp_path) == [path]
    assert latest_checkpoint(tmp_path) == path


def test_a_saved_model_predicts_the_same_and_has_no_optimiser(model, tmp_path):
    save_model(model, tmp_path / "model.keras")
    loaded = keras.models.load_model(tmp_path / "model.keras")
    inputs = {"source_ids": IDS, "target_ids": IDS}
    np.testing.assert_array_equal(loaded(inputs), model(inputs))
    assert not loaded.compiled
