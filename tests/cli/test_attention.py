"""`bytenet attention`: a picture and a JSON file for each sentence."""

import json
import shutil
import struct

import numpy as np
import pytest
from click import UsageError
from matplotlib.figure import Figure

from bytenet.cli.attention import attention
from bytenet.config.families.convs2s import ConvS2SConfig
from bytenet.config.families.recurrent import RecurrentConfig
from bytenet.datasets import Pairs, Vocabulary
from bytenet.decoding import Translator
from bytenet.decoding.alignment import Aligner
from bytenet.decoding.batches.batching import BatchShapes
from bytenet.errors import InputError
from bytenet.evaluation.sentence_attention import SentenceAttention, attention_of_pairs
from bytenet.models import build_model


def test_sentences_with_given_translations(attentive_run_folder, invoke, tmp_path):
    (tmp_path / "source").write_text("ein Hund\nHäuser\n", encoding="utf-8")
    (tmp_path / "target").write_text("a dog\nhouses\n", encoding="utf-8")
    result = invoke(
        attention, attentive_run_folder.path, tmp_path / "source", "--target", tmp_path / "target", "--output", tmp_path
    )
    assert result.stdout == f"{tmp_path / '1.png'}\n{tmp_path / '2.png'}\n"
    assert (tmp_path / "2.png").read_bytes().startswith(b"\x89PNG")
    content = json.loads((tmp_path / "2.json").read_text(encoding="utf-8"))
    assert "".join(content["source"]) == "Häuser⏎"
    assert "".join(content["target"]) == "houses⏎"
    layers = np.array(content["layers"])
    assert layers.shape == (2, 2, 7, 7)  # layers, heads, target, source
    np.testing.assert_allclose(layers.sum(axis=-1), 1, atol=1e-3)
    np.testing.assert_allclose(content["alignment"], layers[-1].mean(axis=0), atol=1e-3)


def test_own_translations_in_the_run_folder(attentive_run_folder, invoke, tmp_path):
    run = shutil.copytree(attentive_run_folder.path, tmp_path / "run")
    result = invoke(attention, run, "--text", "ein Haus☃", "--text", " ")
    folder = run / "attention"
    assert result.stdout == f"{folder / '1.png'}\n"
    assert json.loads((folder / "1.json").read_text(encoding="utf-8"))["source"][-2:] == ["\ufffd", "⏎"]
    assert "Characters that the model does not know, in 1 line: '☃' (U+2603)." in result.stderr


def test_a_long_sentence_has_a_picture_of_limited_size(attentive_run_folder, invoke, tmp_path):
    (tmp_path / "source").write_text("a" * 700 + "\n", encoding="utf-8")
    (tmp_path / "target").write_text("b" * 5 + "\n", encoding="utf-8")
    arguments = (tmp_path / "source", "--target", tmp_path / "target", "--output", tmp_path)
    assert invoke(attention, attentive_run_folder.path, *arguments).exit_code == 0
    width, height = struct.unpack(">II", (tmp_path / "1.png").read_bytes()[16:24])
    assert 8000 < width <= 9000
    assert height < 1000


def test_sentences_longer_than_the_learned_positions_are_refused():
    config = ConvS2SConfig(
        dim=8, output_dim=8, encoder_widths=(8,), encoder_kernel_sizes=(3,), decoder_widths=(8,),
        decoder_kernel_sizes=(3,), max_positions=6,
    )  # fmt: skip
    vocabulary = Vocabulary("ab")
    model = build_model(config, vocabulary.size)
    longest = attention_of_pairs(model, vocabulary, Pairs(["a" * 5] * 2, ["b" * 5, "b" * 6]), ended=[True, False])
    assert ["".join(sentence.target) for sentence in longest] == ["bbbbb⏎", "bbbbbb"]
    for side, pairs in (("source", (["a", "a" * 6], ["b"] * 2)), ("target", (["a"] * 2, ["b", "b" * 6]))):
        with pytest.raises(InputError, match=rf"^Line 2 of the {side} texts has 7 .* reads at most 6\. Split it"):
            list(attention_of_pairs(model, vocabulary, Pairs(*pairs)))


def test_a_translation_without_symbols_is_refused():
    model = build_model(ConvS2SConfig(encoder_widths=[8], encoder_kernel_sizes=[3], decoder_widths=[8],
                                      decoder_kernel_sizes=[3], dim=8, output_dim=8), 6)  # fmt: skip
    with pytest.raises(InputError, match=r"The model wrote nothing for line 1, so there is no attention to draw\."):
        list(attention_of_pairs(model, Vocabulary("abc"), Pairs(["a"], [""]), ended=[False]))


def test_a_model_that_reads_padding_is_shown_the_padding_of_its_training():
    vocabulary = Vocabulary("abc")
    model = build_model(RecurrentConfig(variant="madsen", settings="thesis", dim=8), vocabulary.size)
    source, target = vocabulary.encode("abcab"), vocabulary.encode("cba")
    padded = np.zeros((2, 1, 12), np.int32)
    padded[0, 0, : len(source)] = source
    padded[1, 0, : len(target)] = target
    previous_ids = np.pad(padded[1], [[0, 0], [1, 0]])[:, :-1]
    expected = np.array(model.alignment(model.encode(padded[0]), previous_ids))[0, : len(target), : len(source)]
    assert (expected.sum(axis=-1) < 0.99).any()  # it attends to padding, too
    [aligned] = Aligner(model, BatchShapes(1, trained_lengths=[12, 20]))([source], [target])
    [drawn] = attention_of_pairs(model, vocabulary, Pairs(["abcab"], ["cba"]), trained_lengths=[12, 20])
    [otherwise] = Aligner(model, BatchShapes(1))([source], [target])
    np.testing.assert_allclose(aligned, expected, atol=1e-6)
    np.testing.assert_allclose(drawn.alignment, expected, atol=1e-6)
    assert not np.allclose(otherwise, expected, atol=1e-3)


def test_attention_in_mixed_precision_is_float32(policy):
    with policy("mixed_bfloat16"):
        model = build_model(ConvS2SConfig(encoder_widths=[8], encoder_kernel_sizes=[3], decoder_widths=[8],
                                          decoder_kernel_sizes=[3], dim=8, output_dim=8), 6)  # fmt: skip
    [drawn] = attention_of_pairs(model, Vocabulary("abc"), Pairs(["ab"], ["c"]))
    assert {weights.dtype for weights in (drawn.alignment, *drawn.layers)} == {np.dtype("float32")}


def test_model_without_attention_is_refused_before_it_translates(run_folder, invoke, monkeypatch):
    monkeypatch.setattr(Translator, "translate", lambda *_, **__: pytest.fail("It translated."))
    with pytest.raises(InputError, match="has no attention to draw"):
        invoke(attention, run_folder.path, "--text", "ein Haus")


def test_a_folder_that_cannot_be_written_is_refused_before_the_translation(attentive_run_folder, invoke, monkeypatch):
    monkeypatch.setattr(Translator, "translate", lambda *_, **__: pytest.fail("It translated."))
    with pytest.raises(InputError, match=r"^--output: the folder /proc/nope cannot be written"):
        invoke(attention, attentive_run_folder.path, "--text", "ein Haus", "--output", "/proc/nope")


def test_unknown_white_space_is_read_as_a_blank(attentive_run_folder, invoke, tmp_path):
    result = invoke(attention, attentive_run_folder.path, "--text", "ein\u2028Haus", "--output", tmp_path)
    source = json.loads((tmp_path / "1.json").read_text(encoding="utf-8"))["source"]
    assert "".join(source) == "ein Haus⏎"
    assert "does not know" not in result.stderr


def test_a_model_file_needs_a_folder_for_the_pictures(attentive_run_folder, invoke, tmp_path):
    path = tmp_path / "de-en.bytenet"
    Translator.from_run(attentive_run_folder).export(path, engines="full")
    result = invoke(attention, path, "--text", "ein Haus")
    assert result.exit_code == UsageError.exit_code
    assert "--output" in result.stderr
    assert invoke(attention, path, "--text", "ein Haus", "--output", tmp_path / "out").exit_code == 0
    assert (tmp_path / "out" / "1.png").exists()


@pytest.mark.parametrize("given", [False, True], ids=["own translations", "given translations"])
def test_only_the_first_sentences_are_drawn(attentive_run_folder, invoke, tmp_path, given):
    (tmp_path / "source").write_text("ein\nzwei\ndrei\n", encoding="utf-8")
    (tmp_path / "target").write_text("one\ntwo\nthree\n", encoding="utf-8")
    target = ["--target", tmp_path / "target"] if given else []
    options = ("--max-sentences", 2, "--output", tmp_path / "out")
    invoke(attention, attentive_run_folder.path, tmp_path / "source", *target, *options)
    assert sorted(path.name for path in (tmp_path / "out").glob("*.png")) == ["1.png", "2.png"]
    assert "".join(json.loads((tmp_path / "out" / "2.json").read_text(encoding="utf-8"))["source"]) == "zwei⏎"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "Give SOURCE or --text, but not both."),
        (["file", "--text", "a"], "Give SOURCE or --text, but not both."),
        (["--text", "a", "--target", "file"], "--target needs SOURCE."),
        (["--text", " ", "--text", ""], "There is no sentence to draw: all lines are blank."),
    ],
)
def test_wrong_arguments_are_refused(attentive_run_folder, invoke, arguments, message):
    result = invoke(attention, attentive_run_folder.path, *arguments)
    assert result.exit_code == UsageError.exit_code
    assert message in result.stderr


def test_places_without_a_panel_are_empty(tmp_path, monkeypatch):
    figures = []
    monkeypatch.setattr(Figure, "savefig", lambda figure, path, **_: (figures.append(figure), path.touch()))
    weights = np.full((1, 2, 3), 1 / 3)
    SentenceAttention("ab⏎", "a⏎", weights[0], [weights] * 4).save(tmp_path, "1")
    assert [axes.axison for axes in figures[0].axes] == [True] * 5 + [False]
