"""The whole package reads `.bytenet` files. A wrong one makes no array."""

import json

import numpy as np
import pytest
from safetensors.numpy import load, save

from bytenet.config.families.bytenet import ByteNetConfig
from bytenet.config.families.convs2s import ConvS2SConfig
from bytenet.config.families.transformer import TransformerConfig
from bytenet.datasets import Vocabulary
from bytenet.decoding import Translator
from bytenet.errors import InputError, MissingFileError
from bytenet.lite.archive import Archive, packed
from bytenet.model_file import ModelFile
from bytenet.models import Ensemble, build_model
from bytenet.run_folder import RunFolder
from bytenet.trained_model import open_model

from .archive_entries import entries_of


@pytest.fixture(scope="module")
def model_path(tmp_path_factory):
    vocabulary = Vocabulary("abc ")
    model = build_model(ByteNetConfig(dim=4, num_sets=1, dilations=(1,)), vocabulary.size)
    path = tmp_path_factory.mktemp("model") / "model.bytenet"
    translator = Translator(model, vocabulary, beam_size=2, max_length=9, length_penalty=0.3, jit_compile=False)
    translator.export(path, engines="full", card="# Ünser model\n")
    return path


@pytest.fixture
def changed(model_path, tmp_path):
    """A function that makes a copy of the file with other settings or entries."""

    def change(settings=None, **entries):
        contents = entries_of(model_path)
        if settings is not None:
            contents["settings.json"] = json.dumps(json.loads(contents["settings.json"]) | settings).encode()
        contents |= {name.replace("_", "."): content for name, content in entries.items()}
        path = tmp_path / "changed.bytenet"
        path.write_bytes(packed({name: content for name, content in contents.items() if content is not None}))
        return path

    return change


def model_settings(model_path, **changes):
    return {"model": Archive(model_path).read_json("settings.json")["model"] | changes}


def test_translator_of_the_file_has_the_exported_options(model_path):
    translator = Translator.from_run(model_path, beam_size=1)
    decoding = translator.decoding
    assert (decoding.beam_size, decoding.max_length, decoding.length_penalty) == (1, 9, 0.3)
    assert next(translator.translate(["", "abc"]))[0].text == ""
    assert ModelFile(model_path).card == "# Ünser model\n"


def test_path_decides_between_file_and_folder(model_path, tmp_path):
    assert isinstance(open_model(model_path), ModelFile)
    with pytest.raises(MissingFileError, match=r"none\.bytenet does not exist; expected a model file"):
        open_model(tmp_path / "none.bytenet")
    with pytest.raises(MissingFileError, match="expected the folder of a run"):
        open_model(tmp_path / "none")
    with pytest.raises(MissingFileError, match="not a run folder"):
        open_model(RunFolder(tmp_path))


@pytest.mark.parametrize("precision", ["float16", "int8"])
def test_weights_in_half_precision_are_rounded_once(precision, model_path, tmp_path, monkeypatch):
    monkeypatch.setattr("bytenet.decoding.export.model_file.litert_model_with_score", lambda *_: b"")
    model = ModelFile(model_path).load_model()
    translator = Translator.from_run(model_path)
    translator.export(tmp_path / "half.bytenet", precision=precision)
    for rounded, weight in zip(ModelFile(tmp_path / "half.bytenet").load_model().weights, model.weights, strict=True):
        assert rounded.dtype == "float32"
        np.testing.assert_array_equal(rounded, np.array(weight).astype("float16").astype("float32"))


@pytest.mark.parametrize(
    "settings",
    [
        {"model": None}, {"model": {}}, {"model": {"family": "other"}}, {"model": {"family": ["bytenet"]}},
        {"model": {"family": "bytenet", "variant": "bytenet", "dim": -2}}, {"data": {"corpus": 3}}, {"decoding": 1},
        {"decoding": {"beam_size": "many"}}, {"decoding": {"rerank_with": "/tmp/other"}},
        {"model": {"family": "bytenet", "code": "x"}},
    ],
)  # fmt: skip
def test_wrong_settings_are_refused(settings, changed):
    with pytest.raises(InputError, match=r"settings\.json of .* cannot be used"):
        _ = ModelFile(changed(settings)).config


def test_wrong_trained_lengths_are_refused(changed):
    for lengths in (3, ["a"], [0]):
        with pytest.raises(InputError, match="no list of lengths"):
            _ = ModelFile(changed({"trained_lengths": lengths})).trained_lengths


@pytest.mark.parametrize(
    "changes",
    [
        {"dim": 2**30}, {"dim": 6}, {"num_sets": 10**9}, {"num_sets": 2}, {"dilations": [1] * 10**5},
        {"dilations": [2**40]}, {"block_size": "small"}, {"encoder_kernel_size": 2**20 + 1},
    ],
)  # fmt: skip
def test_weights_that_do_not_fit_the_settings_make_no_array(changes, model_path, changed, monkeypatch):
    def fail(self, *_, **__):
        pytest.fail("An array was made.")

    file = ModelFile(changed(model_settings(model_path, **changes)))
    monkeypatch.setattr("keras.src.backend.tensorflow.core.Variable._initialize", fail)
    # Sizes that no model has are refused with the settings, others when they are compared with the arrays.
    with pytest.raises(InputError, match=r"its weights are not those of a bytenet|settings\.json of .* cannot be used"):
        file.load_model()


def test_damaged_or_missing_weights_are_refused(model_path, changed):
    content = Archive(model_path).read("weights.safetensors")
    arrays = load(content)
    larger = content.replace(b'"shape":[4', b'"shape":[9', 1)
    assert larger != content
    less = save(dict(list(arrays.items())[1:]))
    header_of_gigabytes = (2**40).to_bytes(8, "little") + content[8:]
    for wrong in (b"", b"\0" * 64, content[:-4], larger, less, header_of_gigabytes):
        with pytest.raises(InputError, match=r"weights\.safetensors of .* cannot be used"):
            ModelFile(changed(weights_safetensors=wrong)).load_model()
    with pytest.raises(InputError, match="exported for LiteRT alone"):
        ModelFile(changed(weights_safetensors=None)).load_model()


def test_a_vocabulary_with_the_line_end_is_refused(changed):
    path = changed(vocabulary_json=Vocabulary("abc\n").to_json().encode())
    with pytest.raises(InputError, match="has the line end as a character"):
        _ = ModelFile(path).vocabulary


def test_vocabulary_of_another_size_is_refused(changed):
    with pytest.raises(InputError, match="its weights are not those"):
        ModelFile(changed(vocabulary_json=Vocabulary("ab").to_json().encode())).load_model()
    for wrong in (b"{}", b'{"format": "bytenet-vocabulary-1", "characters": [1], "unknown": "symbol"}'):
        with pytest.raises(InputError, match="is damaged"):
            _ = ModelFile(changed(vocabulary_json=wrong)).vocabulary


def test_a_setting_may_have_no_numbers(tmp_path):
    config = ConvS2SConfig(
        dim=4, output_dim=4, encoder_widths=(4,), encoder_kernel_sizes=(3,), decoder_widths=(4,),
        decoder_kernel_sizes=(3,), attention_layers=(),
    )  # fmt: skip
    vocabulary = Vocabulary("abc ")
    model = build_model(config, vocabulary.size)
    Translator(model, vocabulary).export(tmp_path / "model.bytenet", engines="full")
    loaded = ModelFile(tmp_path / "model.bytenet").load_model()
    for one, other in zip(loaded.weights, model.weights, strict=True):
        np.testing.assert_array_equal(one, other)


def test_a_card_may_be_empty(model_path, tmp_path):
    Translator.from_run(model_path).export(tmp_path / "model.bytenet", engines="full", card="")
    assert ModelFile(tmp_path / "model.bytenet").card == ""


def test_model_is_loaded_in_float32_whatever_the_process_trained(model_path, policy):
    with policy("mixed_bfloat16"):
        assert ModelFile(model_path).load_model().compute_dtype == "float32"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"forbidden_ids": (0,)}, "has no forbidden_ids"),
        ({"replace_unknown": True, "dictionary": {"a": "b"}}, "has no dictionary"),
    ],
)
def test_what_a_file_does_not_have_is_refused(arguments, message, tmp_path):
    vocabulary = Vocabulary("abc ")
    config = ByteNetConfig(dim=4, num_sets=1, dilations=(1,), source_attention="full")
    translator = Translator(build_model(config, vocabulary.size), vocabulary, **arguments)
    with pytest.raises(InputError, match=message):
        translator.export(tmp_path / "model.bytenet", engines="full")
    assert not (tmp_path / "model.bytenet").exists()


def test_settings_that_readers_refuse_are_not_exported(tmp_path):
    vocabulary = Vocabulary("abc ")
    config = TransformerConfig(
        dim=4, heads=1, encoder_layers=1, decoder_layers=1, positions="learned", max_positions=70_000
    )
    translator = Translator(build_model(config, vocabulary.size), vocabulary)
    with pytest.raises(InputError, match=r"above 65,536, .* such as model\.max_positions"):
        translator.export(tmp_path / "model.bytenet", engines="full")


def test_ensemble_has_no_file_of_its_own(model_path, tmp_path):
    model = ModelFile(model_path).load_model()
    ensemble = Translator(Ensemble([model, model]), Vocabulary("abc "))
    with pytest.raises(InputError, match="has one model"):
        ensemble.export(tmp_path / "two.bytenet")
