"""The registry of corpora, a corpus of one's own files, and the limits on training pairs."""

import logging

import pytest

from bytenet.config import DataConfig
from bytenet.datasets.corpora import available, load_corpus, read_corpus, select_training_pairs
from bytenet.datasets.parallel import Pairs
from bytenet.datasets.selection import select_monolingual
from bytenet.datasets.text.vocabulary import Vocabulary
from bytenet.errors import ConfigError, InputError, MissingFileError


def test_files_corpus(data_folder):
    paths = {
        "train_source": data_folder("a.de", ["ein", "zwei"]),
        "train_target": data_folder("a.en.gz", ["one", "two"]),
        "test_source": data_folder("b.de", ["drei"]),
        "test_target": data_folder("b.en", ["three"]),
        "monolingual_target": data_folder("more.en", ["four", "five"]),
    }
    corpus = load_corpus(DataConfig(corpus="files", **{key: str(path) for key, path in paths.items()}))
    assert corpus.train == Pairs(["ein", "zwei"], ["one", "two"])
    assert corpus.validation is None
    assert corpus.test == Pairs(["drei"], ["three"])
    assert corpus.monolingual_source is None
    assert corpus.monolingual_target == ["four", "five"]


def test_reversed_files_change_places_and_so_do_their_languages(data_folder):
    paths = {
        "train_source": data_folder("a.de", ["ein", "zwei"]),
        "train_target": data_folder("a.en", ["one", "two"]),
        "monolingual_target": data_folder("more.en", ["four", "five"]),
    }
    settings = {key: str(path) for key, path in paths.items()}
    corpus = load_corpus(DataConfig(corpus="files", reversed=True, **settings))
    assert corpus.train == Pairs(["one", "two"], ["ein", "zwei"])
    assert corpus.validation is None
    assert corpus.monolingual_source == ["four", "five"]
    assert corpus.monolingual_target is None
    assert (corpus.source_language, corpus.target_language) == ("en", "de")
    assert corpus.reversed() == load_corpus(DataConfig(corpus="files", **settings))


def test_missing_training_files_are_named(tmp_path):
    config = DataConfig(corpus="files", train_source=str(tmp_path / "a"), train_target=str(tmp_path / "b"))
    with pytest.raises(MissingFileError, match=r"no file .*a"):
        load_corpus(config)


def test_every_corpus_of_the_issue_is_listed():
    entries = {entry.name: entry for entry in available()}
    names = {"digits", "numbers", "newstest", "europarl", "multi30k", "multi30k-monolingual", "tatoeba", "files"}
    assert names == set(entries)
    for entry in entries.values():
        assert entry.description
        assert entry.licence
        for file in entry.files():
            assert file.url.startswith("https://")
            assert file.path.startswith(entry.name.removesuffix("-monolingual"))


def test_an_unknown_corpus_is_refused_with_the_nearest_name():
    with pytest.raises(ConfigError, match=r"'multi3k' is not a corpus. Did you mean 'multi30k'\?"):
        load_corpus(DataConfig(corpus="multi3k"))


@pytest.mark.parametrize(
    ("languages", "named"), [(("fr", "en"), "data.source_language = 'fr'"), (("de", "de"), "both 'de'")]
)
def test_languages_a_corpus_does_not_have_are_refused(languages, named):
    with pytest.raises(ConfigError, match=named):
        load_corpus(DataConfig(corpus="multi30k", source_language=languages[0], target_language=languages[1]))


PAIRS = Pairs(["", "a", "ab", "abc", "abcd", "abcde"], ["x", "", "xy", "xyzuv", "x", "u\u0308v\u0308wxy"])


@pytest.mark.parametrize(
    ("shortest", "longest", "kept"),
    [(0, 9, [0, 1, 2, 3, 4, 5]), (1, 500, [2, 3, 4, 5]), (1, 4, [2, 4]), (2, 5, [2, 3]), (2, 6, [2, 3, 5])],
)
def test_limits_are_inclusive_and_hold_for_both_sides(shortest, longest, kept):
    # In NFC the last target has 6 characters: there is no single character for v with a diaeresis.
    config = DataConfig(min_length=shortest, max_length=longest)
    assert select_training_pairs(PAIRS, config) == PAIRS.take(kept)


@pytest.mark.parametrize("blank", [" ", "\u00a0\t", "\u200b \u200b", "\ufeff"])
def test_lines_that_show_nothing_are_as_short_as_empty_ones(blank):
    pairs = Pairs(["a", blank, "b"], [blank, "x", "y"])
    assert select_training_pairs(pairs, DataConfig(min_length=1)) == pairs.take([2])
    assert select_training_pairs(pairs, DataConfig(min_length=0)) == pairs
    selected = select_monolingual(pairs.source, DataConfig(min_length=1), Vocabulary.from_texts(pairs.source))
    assert (selected.texts, selected.outside_limits) == (["a", "b"], 1)


def test_settings_that_a_corpus_does_not_have_are_told(data_folder, caplog):
    path = str(data_folder("one.de", ["a"]))
    settings = {"train_source": path, "train_target": path, "num_train": 3, "test_years": (2014,)}
    read_corpus(DataConfig(corpus="files", **settings))
    (told,) = caplog.records
    assert "The corpus files does not go by data.test_years, data.num_train, which" in told.getMessage()
    assert "data.max_train_pairs" in told.getMessage()
    caplog.clear()
    read_corpus(DataConfig(corpus="digits", num_train=3, num_test=4, test_seed=8))
    assert not caplog.records


def test_only_training_pairs_are_limited(data_folder):
    for split in ("train", "validation", "test"):
        data_folder(f"{split}.de", ["a", "abc"])
    paths = {
        f"{split}_{side}": f"{split}.de" for split in ("train", "validation", "test") for side in ("source", "target")
    }
    folder = data_folder("other", []).parent
    config = DataConfig(corpus="files", max_length=2, **{key: str(folder / name) for key, name in paths.items()})
    corpus = load_corpus(config)
    assert (len(corpus.train), len(corpus.validation), len(corpus.test)) == (1, 2, 2)


def test_what_is_left_out_is_said(caplog):
    caplog.set_level(logging.INFO, "bytenet.datasets")
    select_training_pairs(PAIRS, DataConfig(max_length=4))
    assert "4 of 6 training pairs are left out: not 1 to 4 characters" in caplog.text


def test_all_lines_over_the_limit_is_an_error():
    with pytest.raises(InputError, match=r"None of the 2 training pairs has 1 to 3 characters.*they have 4 to 9"):
        select_training_pairs(Pairs(["abcd", "abcde"], ["123456789", "12345"]), DataConfig(max_length=3))


def test_a_sample_is_spread_keeps_its_order_and_grows():
    pairs = Pairs([f"s{i:03}" for i in range(300)], ["t"] * 300)
    small = select_training_pairs(pairs, DataConfig(max_train_pairs=30))
    large = select_training_pairs(pairs, DataConfig(max_train_pairs=100))
    assert (len(small), len(large)) == (30, 100)
    assert set(small.source) <= set(large.source)
    assert large.source == sorted(large.source)
    assert small.source[0] < "s100" < "s200" < small.source[-1]
    assert select_training_pairs(pairs, DataConfig(max_train_pairs=1000)) == pairs


def test_unequal_sides_are_refused():
    with pytest.raises(InputError, match="2 sources but 1 targets"):
        Pairs(["a", "b"], ["x"])
