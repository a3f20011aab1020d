"""Checkpoints, saved models, and model files."""

import io
import json
import zipfile
from random import Random

import h5py
import keras
import numpy as np
import safetensors.numpy

from bytenet.config.families.bytenet import ByteNetConfig
from bytenet.datasets import Vocabulary
from bytenet.decoding import Translator
from bytenet.errors import InputError
from bytenet.lite.archive import packed
from bytenet.model_file import ModelFile
from bytenet.models import ByteNet
from bytenet.saved.keras_model import load_keras_model, save_model
from bytenet.training.checkpoints import restore_checkpoint, save_checkpoint, training_variables
from bytenet.training.losses import SentenceCrossEntropy
from bytenet.training.optimizers.flat_adam import FlatAdam
from bytenet.training.plateau import Plateau
from bytenet.training.state import TrainingState
from tests.fuzz.mutations import mutate, mutate_zip
from tests.fuzz.targets.target import Target

_TOKENS = (
    b"(100000, 1000000)", b"'<U8'", b"'|O'", b"'descr'", b"True", b"NUMPY", b"null", b"[" * 3000, b'"keras"', b'"os"',
    b'"dim": 400000', b'"num_sets": 1000', b'"mixed_bfloat16"', b"\xff" * 8, b"\0" * 8, b"eval()",
)  # fmt: skip


def _model() -> keras.Model:
    keras.utils.set_random_seed(1)
    model = ByteNet(ByteNetConfig(dim=2, num_sets=1, dilations=(1,), dropout=0.5), vocab_size=5, name="bytenet")
    model.build({"source_ids": (None, None), "target_ids": (None, None)})
    return model


class Checkpoints(Target):
    """The checkpoints of a training."""

    name, suffix, tokens = "checkpoints", ".npz", _TOKENS

    def make_seeds(self) -> list[bytes]:
        self._model = _model()
        self._model.compile(FlatAdam(1e-2), SentenceCrossEntropy(), run_eagerly=True)
        self._model.optimizer.build(self._model.trainable_variables)
        state = TrainingState(2, 3, 17, {"forward": 1.5}, 2, {"forward": Plateau(1, 1.5, 2)}, 9.5, 99, "ab", "cd")
        seeds = [save_checkpoint(self.folder, self._model, [self._model], state, keep=1).read_bytes()]
        self._before = self._values()
        return seeds

    def mutated(self, random: Random) -> bytes:
        return mutate_zip(random.choice(self.seeds), random, self.tokens)

    def _values(self) -> dict[str, np.ndarray]:
        variables = training_variables(self._model, [self._model])
        return {name: np.array(variable) for name, variable in variables.items()}

    def read(self) -> None:
        try:
            restore_checkpoint(self.path, self._model, [self._model])
        except InputError:
            expected = self._before
            raise
        else:
            with np.load(self.path) as saved:
                expected = {name: saved[name] for name in self._before}
        finally:
            values = self._values()
            for name, value in expected.items():
                np.testing.assert_array_equal(values[name], value, err_msg="a checkpoint was restored in part")
            self._before = values


class Models(Target):
    """`model.keras`."""

    name, suffix, tokens = "models", ".keras", _TOKENS

    def make_seeds(self) -> list[bytes]:
        model = _model()
        save_model(model, self.path)
        return [self.path.read_bytes()]

    def mutated(self, random: Random) -> bytes:
        content = random.choice(self.seeds)
        if random.random() < 0.5:
            return mutate_zip(content, random, self.tokens)
        return _with_other_setting(content, random)

    def read(self) -> None:
        model = load_keras_model(self.path)
        saved: list[bytes] = []

        def add(_, item):
            if isinstance(item, h5py.Dataset):
                saved.append(np.asarray(item).tobytes())

        with zipfile.ZipFile(self.path) as archive, h5py.File(io.BytesIO(archive.read("model.weights.h5"))) as file:
            file.visititems(add)
        loaded = {np.array(weight).tobytes() for weight in model.weights}
        assert loaded <= set(saved), "a model has other weights than its file"


class ModelFiles(Target):
    """A `.bytenet` file with weights for TensorFlow."""

    name, suffix, tokens = "model files", ".bytenet", _TOKENS

    def make_seeds(self) -> list[bytes]:
        translator = Translator(_model(), Vocabulary("ab"), beam_size=2, max_length=9, jit_compile=False)
        translator.export(self.path, engines="full", card="# A model\n\n- licence: none\n")
        return [self.path.read_bytes()]

    def mutated(self, random: Random) -> bytes:
        """Damage the file, or one of its entries with the right checksum."""
        content = random.choice(self.seeds)
        if random.random() < 0.3:
            return mutate_zip(content, random, self.tokens)
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            entries = {name: archive.read(name) for name in archive.namelist() if name != "manifest.json"}
        name = random.choice(list(entries))
        entries[name] = mutate(entries[name], random, self.tokens)
        return packed(entries)

    def read(self) -> None:
        file = ModelFile(self.path)
        assert file.vocabulary.size == 5
        assert all(isinstance(text, str) for text in (file.card, *file.facts.values()))
        assert file.trained_lengths is None or min(file.trained_lengths, default=1) > 0
        model = file.load_model()
        with zipfile.ZipFile(self.path) as archive:
            saved = safetensors.numpy.load(archive.read("weights.safetensors"))
        for weight in model.weights:
            np.testing.assert_array_equal(np.array(weight), saved[weight.path], err_msg="a model has other weights")


def _with_other_setting(content: bytes, random: Random) -> bytes:
    """A model file whose configuration has another value somewhere."""
    code = {"module": "builtins", "class_name": "eval", "config": {}}
    numbers = (-1, 0, 3, 2**31, 2**70, 0.5, 1e300, float("nan"))
    values = (None, True, *numbers, "x", "recurrent", "thesis", [], [1], ["x"], {}, code)
    output = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(content)) as archive, zipfile.ZipFile(output, "w") as damaged:
        for name in archive.namelist():
            member = archive.read(name)
            if name == "config.json":
                saved = json.loads(member)
                place = random.choice((saved, saved["config"], saved["config"], saved["config"]["dtype"]))
                place[random.choice(list(place))] = random.choice(values)
                member = json.dumps(saved).encode()
            damaged.writestr(zipfile.ZipInfo(name), member)
    return output.getvalue()
