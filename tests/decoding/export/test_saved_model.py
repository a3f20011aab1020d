"""A SavedModel translates text in a process that has only TensorFlow and TensorFlow Text."""

import json
import subprocess
import sys

import keras
import numpy as np
import pytest
import tensorflow as tf

from bytenet.config.families.bytenet import ByteNetConfig
from bytenet.config.families.convs2s import ConvS2SConfig
from bytenet.datasets import EOS_ID, Vocabulary
from bytenet.decoding import Translator
from bytenet.decoding.export.text_graph import TextGraph
from bytenet.errors import InputError
from bytenet.models import build_model

LINES = ["abc", "", " ", "cab bac\u200b", "u\u0308☃"]
PROGRAM = """
import json, sys
import tensorflow as tf, tensorflow_text
functions = tf.saved_model.load(sys.argv[1]).signatures
text = tf.constant(json.loads(sys.argv[2]))
best, several = functions["serving_default"](text=text), functions["n_best"](text=text, n=tf.constant(2))
assert not [name for name in sys.modules if name.startswith("bytenet")]
several = {name: values.numpy() for name, values in several.items()}
print(json.dumps([
    [line.decode() for line in best["translation"].numpy()], best["score"].numpy().tolist(),
    [[text.decode() for text in row] for row in several["translation"]],
    several["score"].tolist(), several["ended"].tolist(),
]))
"""


def make_translator(config=None, unknown="symbol", **options) -> Translator:
    keras.utils.set_random_seed(1)
    vocabulary = Vocabulary("abcü ", unknown)
    config = config or ByteNetConfig(dim=8, num_sets=1, dilations=(1, 2), unfold_offset=4)
    options = {"beam_size": 3, "min_length": 4, "jit_compile": False} | options
    return Translator(build_model(config, vocabulary.size), vocabulary, **options)


@pytest.fixture(scope="module")
def translator():
    return make_translator()


@pytest.fixture(scope="module")
def graph(translator):
    return TextGraph(translator)


def texts(result) -> list[str]:
    return [text.decode() for text in result["translation"].numpy()]


@pytest.mark.thorough
def test_saved_model_translates_in_a_process_without_this_package(translator, tmp_path):
    translator.export(tmp_path / "saved")
    assert [path.name for path in tmp_path.iterdir()] == ["saved"]
    output = subprocess.run(
        [sys.executable, "-c", PROGRAM, str(tmp_path / "saved"), json.dumps(LINES)],
        cwd=tmp_path, capture_output=True, check=True,
    ).stdout  # fmt: skip
    best, scores, several, several_scores, ended = json.loads(output)
    expected = list(translator.translate(LINES, 2))
    assert best == [row[0].text for row in expected]
    np.testing.assert_allclose(scores, [row[0].score for row in expected], atol=1e-4)
    exists = np.isfinite(several_scores)
    for values, name in ((several, "text"), (ended, "ended")):
        rows = [np.array(row)[kept].tolist() for row, kept in zip(values, exists, strict=True)]
        assert rows == [[getattr(hypothesis, name) for hypothesis in row] for row in expected]


def test_number_of_lines_and_hypotheses_is_free(graph, translator):
    assert texts(graph.translate(tf.constant([], tf.string))) == []
    assert texts(graph.translate(tf.constant(["", " "]))) == ["", ""]
    for lines in (["abc"], LINES):
        assert texts(graph.translate(tf.constant(lines))) == [row[0].text for row in translator.translate(lines)]
    for n in (0, 4):
        with pytest.raises(tf.errors.InvalidArgumentError, match="n must be from 1 to 3, the beam size"):
            graph.n_best(tf.constant(["a"]), tf.constant(n))


def test_invalid_utf8_does_not_stop_the_other_lines(graph, translator):
    [expected] = translator.translate(["abc"])
    assert texts(graph.translate(tf.constant([b"a\xff\xe4", b"abc"])))[1] == expected[0].text


def test_rules_of_unknown_characters_are_kept():
    dropping = make_translator(unknown="drop")
    lines = ["a☃b", "☃", "ab"]
    result = TextGraph(dropping).translate(tf.constant(lines))
    assert texts(result) == [row[0].text for row in dropping.translate(lines)]
    assert result["score"][1] == 0  # nothing was searched
    strict = TextGraph(make_translator(unknown="error"))
    with pytest.raises(tf.errors.InvalidArgumentError, match="not in the vocabulary"):
        strict.translate(tf.constant(["a☃b"]))
    assert texts(strict.translate(tf.constant(["\t", " \u200b"]))) == ["", ""]


def test_unknown_white_space_is_read_as_a_blank(graph, translator):
    lines = [f"abc{space}cab" for space in " \u2028\x85\r\t\u00a0"]
    [expected] = translator.translate(lines[:1])
    result = graph.translate(tf.constant(lines))
    assert texts(result) == [expected[0].text] * 6
    np.testing.assert_allclose(result["score"], expected[0].score, atol=1e-4)


def test_hypotheses_without_text_come_last():
    translator = make_translator(min_length=0)
    translator.model.head.bias.assign(4 * np.eye(translator.vocabulary.size)[EOS_ID])
    graph, lines = TextGraph(translator), ["abc", ""]
    assert texts(graph.translate(tf.constant(lines))) == ["", ""]
    result = graph.n_best(tf.constant(lines), tf.constant(3))
    [expected, _] = translator.translate(lines, 3)
    assert [text.decode() for text in result["translation"].numpy()[0]] == [one.text for one in expected]
    assert [one.text == "" for one in expected] == [False, False, True]
    np.testing.assert_allclose(result["score"][0], [one.score for one in expected], atol=1e-4)
    np.testing.assert_allclose(result["score"][1], [0, -np.inf, -np.inf])


def test_limits_of_lengths_are_kept():
    config = ConvS2SConfig(
        dim=8, output_dim=8, encoder_widths=(8,), encoder_kernel_sizes=(3,), decoder_widths=(8,),
        decoder_kernel_sizes=(3,), max_positions=6,
    )  # fmt: skip
    limited = make_translator(config, max_length=5)
    graph = TextGraph(limited)
    lines = ["abcab", " " * 20]
    assert texts(graph.translate(tf.constant(lines))) == [row[0].text for row in limited.translate(lines)]
    with pytest.raises(tf.errors.InvalidArgumentError, match="than the model reads: at most 6, found"):
        graph.translate(tf.constant(["abcabc"]))


@pytest.mark.parametrize(
    ("path", "options", "message"),
    [
        ("model.pb", {}, "ends in '.pb', which names no format. Give a name that ends in .bytenet or"),
        ("model", {"precision": "int8"}, "a SavedModel has weights in float32"),
        ("model.tflite", {"precision": "int4"}, "precision is 'int4'; expected float32, float16, int8"),
        ("model.tflite", {"jit_compile": True}, r"jit_compile \(--xla\) is for SavedModels"),
        ("model.bytenet", {"engines": "none"}, "engines is 'none'; expected both, full, lite"),
        ("model.bytenet", {"engines": "full", "max_length": 0}, "max_length"),
        ("model", {"form": "onnx"}, "form is 'onnx'; expected saved-model, litert, bytenet"),
        ("model", {"engines": "full"}, r"engines \(--engine\) is for .* the format is saved-model"),
        ("model", {"max_length": 5}, "max_length is for .bytenet files"),
        ("model.tflite", {"languages": ("de", "en")}, "languages is for .bytenet files, but the format is litert"),
        ("model.tflite", {"card": "# A model"}, r"card \(--card\) is for \.bytenet files"),
        ("no/model", {}, "there is no folder"),
    ],
)
def test_wrong_arguments_are_refused(path, options, message, translator, tmp_path):
    with pytest.raises(ValueError, match=message):
        translator.export(tmp_path / path, **options)
    assert list(tmp_path.iterdir()) == []


def test_a_file_that_could_not_be_read_is_not_written(translator, tmp_path, monkeypatch):
    monkeypatch.setattr("bytenet.decoding.export.model_file.MOST_BYTES", 1000)
    with pytest.raises(
        InputError, match=r"at most 1,000 can be read\. Export with --precision float16 or --engine full"
    ):
        translator.export(tmp_path / "model.bytenet", engines="full")
    assert list(tmp_path.iterdir()) == []


def test_existing_folder_is_not_overwritten(translator, tmp_path):
    with pytest.raises(InputError, match="exists already"):
        translator.export(tmp_path)


@pytest.mark.parametrize("path", ["saved", "search.tflite", "model.bytenet"])
def test_what_a_graph_cannot_do_is_refused(path, tmp_path):
    thesis = make_translator(ByteNetConfig(settings="thesis", dim=8, num_sets=1, dilations=(1,)))
    with pytest.raises(InputError, match="reads padding"):
        thesis.export(tmp_path / path)
    attentive = ConvS2SConfig(
        dim=8,
        output_dim=8,
        encoder_widths=(8,),
        encoder_kernel_sizes=(3,),
        decoder_widths=(8,),
        decoder_kernel_sizes=(3,),
    )
    with pytest.raises(InputError, match="--coverage-penalty 0"):
        make_translator(attentive, coverage_penalty=0.2).export(tmp_path / path)
    assert list(tmp_path.iterdir()) == []
