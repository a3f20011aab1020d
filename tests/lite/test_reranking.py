"""Reranking without TensorFlow ranks as the whole package does."""

import json
import re
import shutil

import numpy as np
import pytest

from bytenet import decoding
from bytenet.cli.translate import translate
from bytenet.errors import ConfigError, InputError, MissingFileError
from bytenet.lite import Translator
from bytenet.lite.__main__ import main
from bytenet.lite.archive import Archive, packed
from bytenet.lite.reranking import chosen_reranker
from bytenet.lite.scoring import LitePairScorer
from bytenet.model_file import ModelFile

from ..archive_entries import entries_of


def with_settings(path, section, **changes) -> bytes:
    """The content of a model file with other settings in a section."""
    entries = entries_of(path)
    settings = json.loads(entries["settings.json"])
    settings[section] |= changes
    return packed(entries | {"settings.json": json.dumps(settings).encode()})


@pytest.fixture(scope="module")
def backward_path(translator, tmp_path_factory):
    """A model of the other direction, with the same vocabulary and other weights."""
    import keras

    from bytenet.models import build_model

    keras.utils.set_random_seed(8)
    model = build_model(translator.model.config, translator.vocabulary.size)
    model.head.kernel.assign(10 * model.head.kernel)
    path = tmp_path_factory.mktemp("model") / "en-de.bytenet"
    decoding.Translator(model, translator.vocabulary, beam_size=2).export(path, languages=("en", "de"))
    return path


@pytest.fixture
def shipped(model_path, backward_path, tmp_path, ship):
    """Both models ship, and de-en names en-de. Gives the path of de-en."""
    folder = tmp_path / "pretrained"
    folder.mkdir()
    ship(folder)
    shutil.copy(backward_path, folder)
    (folder / "de-en.bytenet").write_bytes(
        with_settings(model_path, "decoding", rerank_with="en-de", rerank_weight=0.5)
    )
    return folder / "de-en.bytenet"


def test_rank_and_scores_are_those_of_the_whole_package(model_path, backward_path, lines):
    options = {"rerank_with": str(backward_path), "rerank_weight": 0.7}
    lite = Translator(model_path, **options)
    full = decoding.Translator.from_run(model_path, **options)
    actual, expected, before = (
        list(translator.translate(lines, 3)) for translator in (lite, full, Translator(model_path))
    )
    assert [[one.text for one in row] for row in actual] == [[one.text for one in row] for row in expected]
    assert [row[0].text for row in actual] != [row[0].text for row in before]
    scores = [[one.score for row in rows for one in row] for rows in (actual, expected)]
    np.testing.assert_allclose(*scores, atol=1e-4)
    assert [row[0] for row in actual] == [row[0] for row in lite.translate(lines)]


def test_blank_texts_are_empty_sources(model_path):
    scores, _ = LitePairScorer(model_path)(["", " ", "\u200b", "ein"], ["a dog"] * 4)
    assert scores[0] == scores[1] == scores[2] != scores[3]


def test_a_file_names_a_pretrained_model(shipped, backward_path, model_path, lines):
    named = Translator.from_pretrained("de-en")
    given = Translator(model_path, rerank_with=backward_path, rerank_weight=0.5)
    assert list(named.translate(lines, 3)) == list(given.translate(lines, 3))
    assert list(Translator(shipped, rerank_weight=0).translate(lines)) == list(Translator(model_path).translate(lines))
    full = decoding.Translator.from_pretrained("de-en")
    assert (full.reranker.name, full.reranker.weight) == ("en-de", 0.5)
    assert decoding.Translator.from_pretrained("de-en", beam_size=1).reranker is None


def test_an_export_of_both_names_the_pretrained_one(shipped, tmp_path):
    decoding.Translator.from_run(shipped).export(tmp_path / "again.bytenet", engines="full", languages=("de", "en"))
    assert Archive(tmp_path / "again.bytenet").read_json("settings.json")["decoding"]["rerank_with"] == "en-de"


@pytest.mark.parametrize("name", ["../en-de", "/etc/passwd", "", 3, ["en-de"]])
def test_other_names_in_a_file_are_refused(name, shipped, model_path, tmp_path):
    path = tmp_path / "other.bytenet"
    path.write_bytes(with_settings(model_path, "decoding", rerank_with=name))
    for opened in (lambda: Translator(path), lambda: ModelFile(path).config):
        with pytest.raises(InputError, match="to rerank with; expected the name of a pretrained model"):
            opened()


@pytest.mark.parametrize("kind", [Translator, decoding.Translator.from_run])
def test_a_file_that_names_a_missing_model_can_do_without(kind, shipped, model_path, lines, tmp_path):
    path = tmp_path / "other.bytenet"
    path.write_bytes(with_settings(model_path, "decoding", rerank_with="fr-en"))
    with pytest.raises(MissingFileError, match=r"named 'fr-en'.*The pretrained models are.* give --rerank-weight 0"):
        kind(path)
    assert list(kind(path, rerank_weight=0).translate(lines)) == list(kind(model_path).translate(lines))
    assert ModelFile(path).suits_lite(rerank_weight=0)


def test_the_command_does_without_a_missing_model_with_any_option_of_tensorflow(shipped, model_path, tmp_path, invoke):
    path = tmp_path / "other.bytenet"
    path.write_bytes(with_settings(model_path, "decoding", rerank_with="fr-en"))
    for options in (("--beam-size", 2, "--rerank-weight", 0), ("--mbr",)):
        assert invoke(translate, path, *options, stdin=b"ein Hund\n").stdout.strip()


@pytest.mark.parametrize("kind", [Translator, decoding.Translator.from_run])
def test_a_weight_without_a_model_is_refused(kind, model_path):
    with pytest.raises(InputError, match=r"rerank_weight is 0\.5, but no model is named"):
        kind(model_path, rerank_weight=0.5)
    assert kind(model_path, rerank_weight=0).reranker is None


def test_a_model_of_the_same_direction_is_refused(model_path):
    with pytest.raises(InputError, match=r"^rerank_with: .* translates de to en; expected a model from en to de"):
        Translator(model_path, rerank_with=model_path)


@pytest.mark.parametrize(
    "wrong",
    [{"rerank_weight": "x"}, {"rerank_weight": 10**400}, {"length_penalty_rule": "y"}, {"length_penalty": None}],
)
def test_wrong_settings_are_refused(wrong, model_path, tmp_path):
    path = tmp_path / "wrong.bytenet"
    path.write_bytes(with_settings(model_path, "decoding", **wrong))
    with pytest.raises(InputError, match=r"settings\.json cannot be used"):
        Translator(path)


def test_a_search_with_one_hypothesis_has_nothing_to_rank(backward_path, model_path, shipped, tmp_path):
    translator = decoding.Translator.from_run(model_path, beam_size=1)
    greedy = tmp_path / "greedy.bytenet"
    translator.export(greedy, engines="lite", languages=("de", "en"))
    greedy.write_bytes(with_settings(greedy, "decoding", rerank_with="en-de"))
    assert Translator(greedy).reranker is None
    for options in ({"rerank_with": backward_path}, {"rerank_weight": 2.0}):
        with pytest.raises(InputError, match="rerank_with needs several hypotheses"):
            Translator(greedy, **options)


def test_the_command_takes_a_reranker(model_path, backward_path, tmp_path, capsysbinary, lines):
    (tmp_path / "text.de").write_text("\n".join(lines), encoding="utf-8")
    arguments = [str(model_path), "--rerank-with", str(backward_path), str(tmp_path / "text.de")]
    assert main([*arguments, "--rerank-weight", "2"]) == 0
    expected = Translator(model_path, rerank_with=backward_path, rerank_weight=2).translate(lines)
    assert capsysbinary.readouterr().out.decode().split("\n")[:-1] == [best.text for best, *_ in expected]
    with pytest.raises(SystemExit):
        main([*arguments, "--rerank-weight", "-1"])


def test_a_reranker_whose_configured_weight_is_0_is_refused():
    with pytest.raises(ConfigError, match=r"rerank_weight is 0 in the configuration .* Set rerank_weight, too\."):
        chosen_reranker((None, 0.0), ("en-de", None), 10)
    assert chosen_reranker((None, 0.0), ("en-de", 0.5), 10) == ("en-de", 0.5)
    assert chosen_reranker((None, 1.0), ("en-de", 0.0), 10) is None


def test_litert_needs_a_reranker_that_it_can_score_with(shipped):
    assert ModelFile(shipped).suits_lite()
    other = shipped.with_name("en-de.bytenet")
    other.write_bytes(with_settings(other, "lite", scores=False))
    assert not ModelFile(shipped).suits_lite()
    assert ModelFile(shipped).suits_lite(rerank_weight=0)
    translator = decoding.Translator.from_run(shipped)
    with pytest.raises(InputError, match="LiteRT cannot rank with en-de"):
        translator.export(shipped.with_name("new.bytenet"), languages=("de", "en"))


def test_a_missing_or_unknown_reranker_is_named(model_path, tmp_path):
    with pytest.raises(MissingFileError, match=r"^.*none\.bytenet does not exist"):
        Translator(model_path, rerank_with=tmp_path / "none.bytenet")
    later = tmp_path / "later.bytenet"
    later.write_bytes(with_settings(model_path, "decoding", rerank_with="fr-en"))
    assert Translator(later, rerank_weight=0).reranker is None


def test_a_name_is_a_reranker(shipped, model_path, backward_path, lines):
    named = Translator(model_path, rerank_with="en-de")
    assert list(named.translate(lines)) == list(Translator(model_path, rerank_with=backward_path).translate(lines))


@pytest.mark.parametrize("weight", [-1, float("nan"), float("inf")])
def test_weights_that_rank_nothing_are_refused(weight, model_path, backward_path):
    message = f"rerank_weight is {weight}"
    for kind, expected in (
        (Translator, f"{message}; expected a finite number of at least 0."),
        (decoding.Translator.from_run, message),
    ):
        with pytest.raises(ConfigError, match=re.escape(expected)):
            kind(model_path, rerank_with=str(backward_path), rerank_weight=weight)
