"""`bytenet data back-translate`: synthetic pairs of text without translations."""

import shlex
import shutil
from dataclasses import replace

import pytest

from bytenet.cli.data.back_translate import back_translate
from bytenet.config import load_config
from bytenet.datasets import read_corpus, read_lines
from bytenet.decoding import Translator
from bytenet.errors import InputError
from bytenet.lite.translation import Translation

TEXT = ["ein Hund", "zwei", "", "drei lange Hunde", "ein q"]


@pytest.fixture
def settings(tmp_path):
    """A configuration from English to German, for a model from German to English. It names no preset."""
    paths = {}
    for name, lines in (("train_source", ["a"]), ("train_target", ["ein"]), ("monolingual_target", TEXT)):
        paths[name] = tmp_path / name
        paths[name].write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    files = "".join(f"  {name}: {path}\n" for name, path in paths.items())
    languages = "  source_language: en\n  target_language: de\n"
    path = tmp_path / "mine.yaml"
    path.write_text(f"data:\n  corpus: files\n  max_length: 10\n{languages}{files}", encoding="utf-8")
    return path


@pytest.fixture
def translations(monkeypatch):
    """A function that sets what every model writes: texts, and whether they have an end."""

    def write(*texts, ended=True):
        hypotheses = [[Translation(text, -1.0, 0.0, ended)] for text in texts]
        monkeypatch.setattr(Translator, "translate", lambda self, lines, split_sentences: iter(hypotheses))

    return write


def searches_in_use(monkeypatch):
    """A list to which each translation appends its options of the search, and whether it splits lines."""
    used = []

    def translate(self, lines, *, split_sentences):
        used.append((self.decoding.in_use, split_sentences))
        return ([Translation(line, -1.0, -1.0, True)] for line in lines)

    monkeypatch.setattr(Translator, "translate", translate)
    return used


def pairs_in(folder, source="en", target="de"):
    sides = f"source.{source}", f"target.{target}"
    return tuple(read_lines(folder / side) for side in sides)


def test_text_within_the_limits_is_translated_into_the_source_language(
    run_folder, settings, invoke, tmp_path, monkeypatch
):
    folder = tmp_path / "more" / "pairs"
    texts = ["ein Hund", "zwei"]
    greedy = [best.text for [best] in Translator.from_run(run_folder.path, beam_size=1).translate(texts)]
    assert all(greedy)
    translate = Translator.translate

    def ended(self, lines, split_sentences):  # the model is not trained: without this, no translation has an end
        assert (self.decoding.beam_size, split_sentences) == (1, False)
        return ([best._replace(ended=True)] for [best] in translate(self, lines))

    monkeypatch.setattr(Translator, "translate", ended)
    result = invoke(back_translate, run_folder.path, settings, folder, "--max-ratio", "inf")
    assert pairs_in(folder) == (greedy, texts)
    assert "Pairs: 2. Left out: 2 sentences because of their length, 1 with characters" in result.stderr


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ((), {"beam_size": 1}),
        (("--beam-size", 2), {"beam_size": 2}),
        (("--beam-size", 2, "--mbr"), {"beam_size": 2, "mbr": True}),
        (("--samples", 1, "--top-p", 0.9, "--seed", 5), {"samples": 1, "top_p": 0.9, "seed": 5}),
    ],
)
def test_options_choose_the_search(run_folder, settings, invoke, tmp_path, monkeypatch, options, expected):
    used = searches_in_use(monkeypatch)
    invoke(back_translate, run_folder.path, settings, tmp_path / "pairs", *options)
    assert used == [(replace(run_folder.config.decoding, **expected).in_use, False)]


def test_search_is_greedy_without_options_also_for_a_run_with_minimum_bayes_risk(
    run_folder, settings, invoke, tmp_path, monkeypatch
):
    used = searches_in_use(monkeypatch)
    run = shutil.copytree(run_folder.path, tmp_path / "run")
    config = replace(run_folder.config, decoding=replace(run_folder.config.decoding, mbr=True))
    (run / "config.yaml").write_text(config.to_yaml(), encoding="utf-8")
    invoke(back_translate, run, settings, tmp_path / "pairs")
    assert used == [(replace(run_folder.config.decoding, beam_size=1).in_use, False)]


@pytest.mark.parametrize("name", ["pairs", "a: b #1"])
def test_pairs_are_read_by_the_printed_settings(
    run_folder, settings, invoke, tmp_path, translations, monkeypatch, name
):
    monkeypatch.chdir(tmp_path)
    translations("a dog", "two")
    # The configuration already names the files that the command makes.
    text = settings.read_text(encoding="utf-8")
    files = f"  synthetic_source: '{name}/source.en'\n  synthetic_target: '{name}/target.de'\n"
    settings.write_text(text + files, encoding="utf-8")
    printed = shlex.split(invoke(back_translate, run_folder.path, settings, name).stdout)
    for config in (load_config(str(settings)), load_config(str(settings), printed[1::2])):
        corpus = read_corpus(config.data)
        assert corpus.synthetic is not None
        assert (corpus.synthetic.source, corpus.synthetic.target) == (["a dog", "two"], ["ein Hund", "zwei"])


@pytest.mark.parametrize("ended", [True, False])
def test_translations_without_end_and_of_uneven_length_are_left_out(
    run_folder, settings, invoke, tmp_path, translations, ended
):
    translations("a long dog, a very long dog", "two", ended=ended)
    if ended:
        result = invoke(back_translate, run_folder.path, settings, tmp_path / "pairs")
        assert "0 whose translation has no end, 1 with uneven lengths" in result.stderr
        assert pairs_in(tmp_path / "pairs") == (["two"], ["zwei"])
    else:
        message = r"of 2 translations, 2 have no end or are blank, and 0 are .* Use a better trained model than {}{}\.$"
        for options, advice in (((), ""), (("--max-length", 5), ", or raise --max-length")):
            with pytest.raises(InputError, match=message.format(run_folder.path, advice)):
                invoke(back_translate, run_folder.path, settings, tmp_path / f"pairs{len(options)}", *options)
        assert not list(tmp_path.rglob("source.en"))


def test_advice_names_only_the_limit_that_left_pairs_out(run_folder, settings, invoke, tmp_path, translations):
    long = "a long dog, a very long dog"
    translations(long, long)
    with pytest.raises(InputError, match=r"0 have no end .* and 2 are .* or raise --max-ratio\.$"):
        invoke(back_translate, run_folder.path, settings, tmp_path / "pairs", "--max-length", 50)


def test_an_interrupted_command_goes_on_after_the_finished_texts(run_folder, settings, invoke, tmp_path, monkeypatch):
    folder, read = tmp_path / "pairs", []

    def interrupted(self, lines, split_sentences):
        yield [Translation("a dog", -1.0, 0.0, True)]
        raise KeyboardInterrupt

    def translate(self, lines, split_sentences):
        read.extend(lines)
        return ([Translation(f"the {line}", -1.0, 0.0, True)] for line in lines)

    monkeypatch.setattr(Translator, "translate", interrupted)
    invoke(back_translate, run_folder.path, settings, folder)
    monkeypatch.setattr(Translator, "translate", translate)
    with pytest.raises(InputError, match="another model, another search or other texts"):
        invoke(back_translate, run_folder.path, settings, folder, "--beam-size", 2)
    assert not read
    partial = folder / "translations.partial"
    complete = partial.read_text(encoding="utf-8")
    for damage in (b"x\n", b"\xff\n"):
        partial.write_bytes(complete.encode() + damage)
        with pytest.raises(InputError, match="damaged"):
            invoke(back_translate, run_folder.path, settings, folder)
    partial.write_text(f'{complete}["thr', encoding="utf-8")  # the power failed
    result = invoke(back_translate, run_folder.path, settings, folder)
    assert "Going on after 1 of 2 sentences." in result.stderr
    assert read == ["zwei"]
    assert pairs_in(folder) == (["a dog", "the zwei"], ["ein Hund", "zwei"])
    assert not partial.exists()


def test_model_of_the_same_direction_and_missing_text_are_refused(run_folder, settings, invoke, tmp_path):
    same = ("--set", "data.source_language=de", "--set", "data.target_language=en")
    message = r"^Back-translation of text in {}: .* translates de to en; expected a model from {} to {}\.{}$"
    advice = r" Train one: bytenet train PRESET_OR_FILE --set data\.reversed=true --run DIR"
    with pytest.raises(InputError, match=message.format("en", "en", "de", advice)):
        invoke(back_translate, run_folder.path, settings, tmp_path / "pairs", *same)
    turned = ("--set", "data.reversed=true")
    with pytest.raises(InputError, match=message.format("en", "en", "de", advice.replace("true", "false"))):
        invoke(back_translate, run_folder.path, settings, tmp_path / "pairs", *turned)
    other = ("--set", "data.source_language=fr")
    with pytest.raises(InputError, match=message.format("de", "de", "fr", "")):
        invoke(back_translate, run_folder.path, settings, tmp_path / "pairs", *other)
    with pytest.raises(InputError, match=r"no monolingual text in de. Set data.monolingual_target"):
        invoke(back_translate, run_folder.path, settings, tmp_path / "pairs", "--set", "data.monolingual_target=")
    assert not (tmp_path / "pairs").exists()


def test_text_without_a_usable_sentence_is_explained(run_folder, settings, invoke, tmp_path):
    limits = ("--set", "data.min_length=5", "--set", "data.max_length=5")
    with pytest.raises(
        InputError, match=r"^None of the 5 sentences can be used: 4 are outside .*, and 1 have .* Change the limits, or"
    ):
        invoke(back_translate, run_folder.path, settings, tmp_path / "pairs", *limits)


def test_existing_pairs_are_not_overwritten(run_folder, settings, invoke, tmp_path):
    (tmp_path / "target.de").write_text("x\n")
    with pytest.raises(InputError, match=r"target\.de exists"):
        invoke(back_translate, run_folder.path, settings, tmp_path)


def test_reversed_configuration_names_the_files_by_its_languages(run_folder, settings, invoke, tmp_path, translations):
    translations("a dog", "two")
    turned = [
        "data.reversed=true", "data.source_language=de", "data.target_language=en", "data.monolingual_target=",
        f"data.monolingual_source={tmp_path / 'monolingual_target'}",
    ]  # fmt: skip
    options = [argument for setting in turned for argument in ("--set", setting)]
    printed = shlex.split(invoke(back_translate, run_folder.path, settings, tmp_path / "pairs", *options).stdout)
    assert pairs_in(tmp_path / "pairs", "de", "en") == (["ein Hund", "zwei"], ["a dog", "two"])
    corpus = read_corpus(load_config(str(settings), [*turned, *printed[1::2]]).data)
    assert corpus.synthetic is not None
    assert (corpus.synthetic.source, corpus.synthetic.target) == (["a dog", "two"], ["ein Hund", "zwei"])
