"""The corpus registry, the user's own files, and loading a corpus from a configuration."""

import pytest

from bytenet.config import DataConfig
from bytenet.datasets import Pairs, available, load_corpus, read_corpus
from bytenet.errors import ConfigError, InputError, MissingFileError


def test_files_corpus_has_the_given_pairs_and_monolingual_text(data_folder):
    paths = {
        "train_source": data_folder("a.de", ["ein", "zwei"]),
        "train_target": data_folder("a.en.gz", ["one", "two"]),
        "test_source": data_folder("b.de", ["drei"]),
        "test_target": data_folder("b.en", ["three"]),
        "monolingual_target": data_folder("more.en", ["four", "five"]),
        "synthetic_source": data_folder("synthetic.de", ["vier"]),
        "synthetic_target": data_folder("synthetic.en", ["four"]),
    }
    corpus = load_corpus(DataConfig(corpus="files", **{key: str(path) for key, path in paths.items()}))
    assert corpus.train == Pairs(["ein", "zwei", "⇄vier"], ["one", "two", "four"])
    assert corpus.synthetic == Pairs(["vier"], ["four"])
    assert corpus.validation is None
    assert corpus.test == Pairs(["drei"], ["three"])
    assert corpus.monolingual_source is None
    assert corpus.monolingual_target == ["four", "five"]


def test_reversed_files_swap_their_sides_and_languages(data_folder):
    paths = {
        "train_source": data_folder("a.de", ["ein", "zwei"]),
        "train_target": data_folder("a.en", ["one", "two"]),
        "monolingual_target": data_folder("more.en", ["four", "five"]),
        "synthetic_source": data_folder("synthetic.de", ["vier"]),
        "synthetic_target": data_folder("synthetic.en", ["four"]),
    }
    settings = {key: str(path) for key, path in paths.items()}
    corpus = read_corpus(DataConfig(corpus="files", reversed=True, **settings))
    assert corpus.train == Pairs(["one", "two"], ["ein", "zwei"])
    assert corpus.synthetic == Pairs(["four"], ["vier"])
    assert corpus.validation is None
    assert corpus.monolingual_source == ["four", "five"]
    assert corpus.monolingual_target is None
    assert (corpus.source_language, corpus.target_language) == ("en", "de")
    assert corpus.reversed() == read_corpus(DataConfig(corpus="files", **settings))


def test_missing_training_files_are_named(tmp_path):
    config = DataConfig(corpus="files", train_source=str(tmp_path / "a"), train_target=str(tmp_path / "b"))
    with pytest.raises(MissingFileError, match=r"no file .*a"):
        load_corpus(config)


def test_every_corpus_is_listed_with_licence_and_files():
    entries = {entry.name: entry for entry in available()}
    assert set(entries) == {
        "digits", "numbers", "newstest", "europarl", "multi30k", "multi30k-2017", "multi30k-monolingual", "tatoeba",
        "files", "shards",
    }  # fmt: skip
    for entry in entries.values():
        assert entry.description
        assert entry.licence
        for file in entry.files():
            assert file.url.startswith("https://")
            assert file.path.startswith(entry.name.removesuffix("-monolingual").removesuffix("-2017"))


def test_an_unknown_corpus_is_refused_with_the_nearest_name():
    with pytest.raises(ConfigError, match=r"'multi3k' is not a corpus. Did you mean multi30k\?"):
        load_corpus(DataConfig(corpus="multi3k"))


@pytest.mark.parametrize(
    ("languages", "named"), [(("fr", "en"), "data.source_language = 'fr'"), (("de", "de"), "both 'de'")]
)
def test_unsupported_languages_are_refused(languages, named):
    with pytest.raises(ConfigError, match=named):
        load_corpus(DataConfig(corpus="multi30k", source_language=languages[0], target_language=languages[1]))


def test_settings_that_a_corpus_does_not_use_are_logged(data_folder, caplog):
    path = str(data_folder("one.de", ["a"]))
    settings = {"train_source": path, "train_target": path, "num_train": 3, "test_years": (2014,)}
    read_corpus(DataConfig(corpus="files", **settings))
    (told,) = caplog.records
    assert "The corpus files does not use data.test_years, data.num_train, which" in told.getMessage()
    assert "data.max_train_pairs" in told.getMessage()
    caplog.clear()
    read_corpus(DataConfig(corpus="digits", num_train=3, num_test=4, test_seed=8))
    assert not caplog.records


def test_length_limits_apply_only_to_training_pairs(data_folder):
    for split in ("train", "validation", "test"):
        data_folder(f"{split}.de", ["a", "abc"])
    paths = {
        f"{split}_{side}": f"{split}.de" for split in ("train", "validation", "test") for side in ("source", "target")
    }
    folder = data_folder("other", []).parent
    config = DataConfig(corpus="files", max_length=2, **{key: str(folder / name) for key, name in paths.items()})
    corpus = load_corpus(config)
    assert (len(corpus.train), len(corpus.validation), len(corpus.test)) == (1, 2, 2)


def test_unequal_sides_are_refused():
    with pytest.raises(InputError, match="2 sources but 1 targets"):
        Pairs(["a", "b"], ["x"])
