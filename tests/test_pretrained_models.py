"""What the documentation promises on the pretrained models of the package holds for their files."""

import re
import zipfile
from importlib.util import find_spec

import pytest

from bytenet.config import DataConfig
from bytenet.datasets import read_corpus
from bytenet.datasets.corpora import tatoeba
from bytenet.errors import InputError
from bytenet.evaluation import pairs_of_split
from bytenet.lite.pretrained import pretrained_names, pretrained_path
from bytenet.model_file import ModelFile

from .test_results_tables import PRETRAINED, README, ROOT, in_tenths, page_of, rows_of_first_table

NAMES = ("de-en", "en-de")
MOST_BYTES = 30_000_000
"""Of both files together."""

SCORE = r"(\d+\.\d \(\d+\.\d to \d+\.\d\))"
SCORES = re.compile(rf"BLEU {SCORE}, chrF2 {SCORE}; 2,000 sentences, .+")


@pytest.fixture(params=NAMES)
def name(request) -> str:
    return request.param


@pytest.fixture
def model(name) -> ModelFile:
    return ModelFile(pretrained_path(name))


def test_both_directions_are_in_the_package_and_small():
    assert pretrained_names() == [*NAMES]
    assert sum(pretrained_path(name).stat().st_size for name in NAMES) <= MOST_BYTES


def test_each_model_is_in_float16_for_both_engines_and_reranks_with_the_other(name, model):
    (other,) = {*NAMES} - {name}
    assert model.config.data.languages == tuple(name.split("-"))
    assert model.config.decoding.rerank_with == str(pretrained_path(other))
    assert model.facts["precision"].startswith("float16")
    assert model.has_weights
    assert {str(values.dtype) for values in model._weights().values()} == {"float16"}
    assert model._lite_settings["precision"] == "float16"


def test_the_card_has_data_licence_training_and_scores(name, model):
    facts = model.facts
    assert facts["languages"] == " to ".join(model.config.data.languages)
    assert facts["corpus"].startswith("tatoeba, ")
    assert facts["licence"] == tatoeba.ENTRY.licence
    assert facts["training"].startswith(f"`bytenet train tatoeba-{name} ")
    assert re.fullmatch(r"[0-9a-f]{40}", facts["commit of the training"])
    assert SCORES.fullmatch(facts["scores on test"])
    assert "What it is bad at" in model.card


def test_the_text_of_the_card_is_that_of_the_repository(name, model):
    before, after = (ROOT / "bytenet" / "pretrained" / f"{name}.md").read_text(encoding="utf-8").split("{facts}")
    assert model.card.startswith(before)
    assert model.card.strip().endswith(after.strip())


def test_scores_of_card_documentation_and_page_are_the_same(name, model):
    bleu, chrf = SCORES.fullmatch(model.facts["scores on test"]).groups()
    (row,) = (row for row in rows_of_first_table(PRETRAINED) if row["name"] == f"`{name}`")
    assert row["BLEU on 2,000 held-out sentences"] == bleu
    page = page_of(f"tatoeba-{name}")
    of_page = {
        row["score"]: in_tenths(f"{row['value']} ({row['95 % interval']})")
        for row in rows_of_first_table(page[page.index("## Scores on test") :])
    }
    assert (of_page["BLEU"], of_page["chrF2"]) == (bleu, chrf)


def test_the_licence_of_the_models_names_whom_to_attribute(model):
    text = (ROOT / "LICENSE-MODELS").read_text(encoding="utf-8")
    licence, attribution = model.facts["licence"].split(", attribution: ")
    assert f"({licence}), https://creativecommons.org/licenses/by/2.0/" in text
    assert f"Attribution: {attribution}\n" in text


@pytest.mark.skipif(find_spec("ai_edge_litert") is None, reason="needs LiteRT")
def test_the_sentence_of_the_readme_is_translated_as_there():
    from bytenet.lite import Translator

    source, translation = re.search(r'^echo "(.+)" \| bytenet translate de-en +# (.+)$', README, re.MULTILINE).groups()
    assert source == "Das Wetter ist heute sehr schön."
    ((best, *_),) = Translator.from_pretrained("de-en").translate([source])
    assert best.text == translation == "The weather is very beautiful today."


def test_without_a_corpus_the_message_names_that_of_the_card(model):
    with pytest.raises(InputError, match="It learned from tatoeba: add --corpus tatoeba, or give files with --source"):
        pairs_of_split(model, "test")


def test_the_known_held_out_pairs_are_those_of_the_real_corpus(real_data):
    real_data("tatoeba")
    corpus = read_corpus(DataConfig(corpus="tatoeba"))
    assert tatoeba._checksum(corpus.validation, corpus.test) == tatoeba._CHECKSUM_FOR_PRETRAINED


@pytest.mark.parametrize("languages", [("de", "en"), ("en", "de")])
def test_another_archive_gives_a_warning(tmp_path, monkeypatch, caplog, languages):
    monkeypatch.setenv("BYTENET_DATA", str(tmp_path))
    monkeypatch.setattr(tatoeba, "_HELD_OUT", 2)
    (tmp_path / "tatoeba").mkdir()
    with zipfile.ZipFile(tmp_path / "tatoeba" / "deu-eng.zip", "w") as archive:
        archive.writestr("deu.txt", "".join(f"E{i}.\tD{i}.\tCC-BY 2.0\n" for i in range(8)))
    config = DataConfig(corpus="tatoeba", source_language=languages[0], target_language=languages[1])
    corpus = read_corpus(config)
    (message,) = caplog.messages
    assert message.startswith("The archive of tatoeba is not the one that the pretrained models learned from.")
    if languages == ("en", "de"):
        corpus = corpus.reversed()
    checksum = tatoeba._checksum(corpus.validation, corpus.test)
    monkeypatch.setattr(tatoeba, "_CHECKSUM_FOR_PRETRAINED", checksum)
    caplog.clear()
    read_corpus(config)
    assert not caplog.messages
