"""`bytenet data back-translate`: synthetic pairs of text without translations."""

import pytest

from bytenet.cli.data.back_translate import back_translate
from bytenet.config import load_config
from bytenet.datasets import read_corpus, read_lines
from bytenet.decoding import Translator
from bytenet.errors import InputError

TEXT = ["ein Hund", "zwei", "", "drei lange Hunde", "ein q"]


@pytest.fixture
def settings(tmp_path):
    """A configuration from English to German, for a model from German to English."""
    paths = {}
    for name, lines in (("train_source", ["a"]), ("train_target", ["ein"]), ("monolingual_target", TEXT)):
        paths[name] = tmp_path / name
        paths[name].write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    files = "".join(f"  {name}: {path}\n" for name, path in paths.items())
    languages = "  source_language: en\n  target_language: de\n"
    path = tmp_path / "mine.yaml"
    path.write_text(f"data:\n  corpus: files\n  max_length: 10\n{languages}{files}", encoding="utf-8")
    return path


def pairs_in(folder):
    return read_lines(folder / "synthetic.en", allow_empty=True), read_lines(folder / "synthetic.de", allow_empty=True)


def test_text_within_the_limits_is_translated_into_the_source_language(run_folder, settings, invoke, tmp_path):
    folder = tmp_path / "more" / "pairs"
    result = invoke(back_translate, run_folder.path, settings, folder, "--max-ratio", "inf")
    texts = ["ein Hund", "zwei"]
    translator = Translator.from_run(run_folder.path, beam_size=1)
    expected = [
        (best.text, text) for text, [best] in zip(texts, translator.translate(texts), strict=True) if best.ended
    ]
    sources, targets = pairs_in(folder)
    assert list(zip(sources, targets, strict=True)) == expected
    assert f"{len(expected)} pairs. Left out: 2 sentences because of their length, 1 with characters" in result.stderr
    unended = len(texts) - len(expected)
    assert f"{unended} whose translation has no end, 0 with odd lengths" in result.stderr


def test_pairs_are_read_by_the_printed_settings(run_folder, settings, invoke, tmp_path, monkeypatch):
    fixed = [[type("Best", (), {"text": text, "ended": True})] for text in ("a dog", "two")]
    monkeypatch.setattr(Translator, "translate", lambda self, lines: iter(fixed))
    printed = invoke(back_translate, run_folder.path, settings, tmp_path / "pairs").stdout.split()
    corpus = read_corpus(load_config(str(settings), printed[1::2]).data)
    assert corpus.synthetic is not None
    assert (corpus.synthetic.source, corpus.synthetic.target) == (["a dog", "two"], ["ein Hund", "zwei"])


def test_translations_without_end_and_of_odd_length_are_left_out(run_folder, settings, invoke, tmp_path, monkeypatch):
    fixed = [[type("Best", (), {"text": text, "ended": ended})] for text, ended in (("a dog", False), ("t", True))]
    monkeypatch.setattr(Translator, "translate", lambda self, lines: iter(fixed))
    result = invoke(back_translate, run_folder.path, settings, tmp_path / "pairs")
    assert "0 pairs." in result.stderr
    assert "1 whose translation has no end, 1 with odd lengths" in result.stderr


def test_model_of_the_same_direction_and_missing_text_are_refused(run_folder, settings, invoke, tmp_path):
    same = ("--set", "data.source_language=de", "--set", "data.target_language=en")
    with pytest.raises(InputError, match=r"translates de to en. .* needs a model from en to de"):
        invoke(back_translate, run_folder.path, settings, tmp_path / "pairs", *same)
    with pytest.raises(InputError, match="has no text without translations on its target side"):
        invoke(back_translate, run_folder.path, settings, tmp_path / "pairs", "--set", "data.monolingual_target=")
    assert not (tmp_path / "pairs").exists()


def test_reversed_configuration_names_the_files_by_its_languages(run_folder, settings, invoke, tmp_path, monkeypatch):
    fixed = [[type("Best", (), {"text": text, "ended": True})] for text in ("a dog", "two")]
    monkeypatch.setattr(Translator, "translate", lambda self, lines: iter(fixed))
    turned = [
        "data.reversed=true", "data.source_language=de", "data.target_language=en", "data.monolingual_target=",
        f"data.monolingual_source={tmp_path / 'monolingual_target'}",
    ]  # fmt: skip
    options = [argument for setting in turned for argument in ("--set", setting)]
    printed = invoke(back_translate, run_folder.path, settings, tmp_path / "pairs", *options).stdout.split()
    assert pairs_in(tmp_path / "pairs") == (["a dog", "two"], ["ein Hund", "zwei"])
    corpus = read_corpus(load_config(str(settings), [*turned, *printed[1::2]]).data)
    assert corpus.synthetic is not None
    assert (corpus.synthetic.source, corpus.synthetic.target) == (["a dog", "two"], ["ein Hund", "zwei"])
