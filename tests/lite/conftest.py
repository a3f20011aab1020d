"""A small model in a `.bytenet` file, and the translator that it was exported from."""

import sys

import pytest

from bytenet.lite import sentences

LINES = ["ein Hund", "", "zwei Häuser\u0308", "  \u200b ", "x", "ein", "Hunde, Hunde und ein Haus ☃", "drei"]


@pytest.fixture(scope="session")
def translator():
    """An untrained ByteNet with random weights. It translates with TensorFlow."""
    import keras

    from bytenet.config.families.bytenet import ByteNetConfig
    from bytenet.datasets import Vocabulary
    from bytenet.decoding import Translator
    from bytenet.models import build_model

    vocabulary = Vocabulary.from_texts(["ein zwei drei Hunde und Häuser"])
    keras.utils.set_random_seed(3)
    model = build_model(ByteNetConfig(dim=8, num_sets=1, dilations=(1, 2), unfold_offset=6), vocabulary.size)
    # Larger weights of the head make translations that differ.
    model.head.kernel.assign(10 * model.head.kernel)
    return Translator(model, vocabulary, beam_size=3, min_length=5, jit_compile=False)


@pytest.fixture(scope="session")
def model_path(translator, tmp_path_factory):
    """The translator as a file for both engines. Do not change it."""
    path = tmp_path_factory.mktemp("model") / "de-en.bytenet"
    translator.export(path, languages=("de", "en"), card="# A model\n")
    return path


@pytest.fixture(scope="session")
def lite(model_path):
    """The file's translator without TensorFlow."""
    from bytenet.lite import Translator

    return Translator(model_path)


@pytest.fixture
def lines():
    return LINES


@pytest.fixture
def without_sentencex(monkeypatch):
    """The library that splits lines into sentences cannot be imported, and nothing was said about it yet."""
    monkeypatch.setitem(sys.modules, "sentencex", None)
    sentences._can_split.cache_clear()
    yield
    sentences._can_split.cache_clear()
