"""Every layer and initialiser is registered with Keras. Registered objects are made again from their configurations."""

import importlib
import json
import pkgutil

import keras

import bytenet.layers
import bytenet.models
import bytenet.training
from bytenet.layers.initializers import JointGlorotUniform, OpenGates, ThesisCodeUniform
from bytenet.layers.recurrent.initializers import Float32Orthogonal, SquareBlocks
from bytenet.models import Ensemble, build_model
from bytenet.private_api import all_layers
from bytenet.training.losses import RDropCrossEntropy, SentenceCrossEntropy
from bytenet.training.metrics import CharacterCrossEntropy, CharacterError
from bytenet.training.optimizers.flat_adam import FlatAdam
from bytenet.training.optimizers.keras_optimizer import KerasOptimizer
from bytenet.training.optimizers.nag import Nag
from bytenet.training.optimizers.schedules import PlateauDecay, StepDecay, WarmupDecay

from .backends.layers import LAYERS
from .cases import VARIANT_CASES, VOCAB_SIZE

# Each argument has another value than its default.
OTHERS = [
    ThesisCodeUniform(seed=3, gain=0.5),
    JointGlorotUniform(5, (4, 2), seed=3),
    OpenGates(),
    Float32Orthogonal(gain=0.5, seed=3),
    SquareBlocks("identity"),
    SentenceCrossEntropy(0.1, name="loss"),
    RDropCrossEntropy(5.0, 0.1),
    CharacterError(name="wrong"),
    CharacterCrossEntropy(name="nats"),
    FlatAdam(0.1, 0.5, 0.9, 1e-3, clip_norm=2.0, ema_momentum=0.9, accumulates=True, exchange_dtype="bfloat16"),
    Nag(0.1, momentum=0.5, weight_decay=0.1),
    KerasOptimizer(keras.optimizers.SGD, 0.1, clip_norm=2.0, momentum=0.5),
    WarmupDecay(0.8, "cosine", 3, 10, 0.1),
    StepDecay(0.8, 3, 10, 0.1, factor=0.5, start_epoch=2.0, every_epochs=0.5),
    PlateauDecay(0.8, 3, 10),
    Ensemble([build_model(VARIANT_CASES[0].config, VOCAB_SIZE)]),
]


def _modules(package):
    """All modules of a package, imported."""
    return [
        importlib.import_module(module.name)
        for module in pkgutil.walk_packages(package.__path__, f"{package.__name__}.")
    ]


def _registered_classes():
    for package in (bytenet.layers, bytenet.models, bytenet.training):
        _modules(package)
    registered = keras.saving.get_custom_objects()
    return [registered[name] for name in registered if name.startswith("bytenet>")]


def test_every_layer_and_initializer_is_registered():
    registered, kinds = _registered_classes(), (keras.layers.Layer, keras.initializers.Initializer)
    for module in _modules(bytenet.layers):
        for name, member in vars(module).items():
            is_own = isinstance(member, type) and member.__module__ == module.__name__ and not name.startswith("_")
            if is_own and issubclass(member, kinds):
                assert member in registered, name


def test_every_registered_object_is_made_again_from_its_configuration():
    examples = {type(one): one for one in OTHERS} | {type(one): one for one in (make() for make, *_ in LAYERS.values())}
    for case in VARIANT_CASES:
        examples |= {type(layer): layer for layer in all_layers(build_model(case.config, VOCAB_SIZE))}
    for kind in _registered_classes():
        assert kind in examples, f"give an example of {kind} in OTHERS or LAYERS"
        one = examples[kind]
        assert kind.from_config(one.get_config()).get_config() == one.get_config(), kind
        serialized = json.loads(json.dumps(keras.saving.serialize_keras_object(one)))
        again = keras.saving.deserialize_keras_object(serialized)
        assert type(again) is kind
        if isinstance(one, keras.layers.Layer):
            assert [weight.shape for weight in again.weights] == [weight.shape for weight in one.weights], kind
