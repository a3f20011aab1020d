"""The corpora of the registry, and the limits on training pairs."""

import hashlib
import io
import logging
import tarfile
import zipfile

import numpy as np
import pytest

from bytenet.config import DataConfig
from bytenet.datasets.corpora import (
    available,
    digits,
    europarl,
    find_entry,
    load_corpus,
    newstest,
    number_splits,
    read_corpus,
    select_training_pairs,
)
from bytenet.datasets.corpora.holding_out import hold_out_components, hold_out_tail
from bytenet.datasets.corpora.numbers import FIRST_HELD_OUT, spell
from bytenet.datasets.parallel import Pairs
from bytenet.datasets.vocabulary import Vocabulary
from bytenet.errors import InputError, MissingFileError


def tgz(members: dict[str, str]) -> bytes:
    content = io.BytesIO()
    with tarfile.open(fileobj=content, mode="w:gz") as archive:
        for name, text in members.items():
            member = tarfile.TarInfo(name)
            member.size = len(text.encode())
            archive.addfile(member, io.BytesIO(text.encode()))
    return content.getvalue()


# Digits


@pytest.mark.parametrize(
    ("seed", "expected"),
    [
        (99, "388 849 28 54 730 704 119 41 671 407"),
        (11, "104 156 559 16 234 53"),
        (10, "452 19 484"),
    ],
)
def test_digits_are_the_thesis_s(seed, expected):
    pairs = digits(seed, 128)
    targets = expected.split()
    assert pairs.target[: len(targets)] == targets
    assert len(pairs) == 128


def test_digits_are_spelled_out():
    pairs = digits(99, 4)
    assert pairs.source == ["three eight eight", "eight four nine", "two eight", "five four"]
    vocabulary = Vocabulary.from_texts(*[(*digits(10, 128).source, *digits(10, 128).target)], unknown="drop")
    assert vocabulary.size == 28


def test_digits_corpus_has_the_thesis_s_seeds():
    corpus = load_corpus(DataConfig(corpus="digits"))
    assert corpus.train == digits(10, 128)
    assert corpus.test == digits(11, 128)
    assert corpus.validation == digits(12, 128)
    corpus = load_corpus(DataConfig(corpus="digits", train_seed=0, num_train=7, test_seed=2, num_test=1024))
    assert corpus.train == digits(0, 7)
    assert corpus.test == digits(2, 1024)


def test_senseless_digits_are_refused():
    with pytest.raises(InputError, match="found 0, 2, 3"):
        digits(1, 0)
    with pytest.raises(InputError, match="found 5, 3, 2"):
        digits(1, 5, 3, 2)


# Numbers

EXPECTED_SPLITS = {
    "train": [192, 3106, 0, 14325],
    "validation": [106, 426, 31884, 318806],
    "test": [142, 659992, 22035, 1032],
}


def test_no_number_is_in_two_splits():
    splits = number_splits(seed=3, num_train=5000, num_validation=800, num_test=900)
    assert [len(splits[name]) for name in ("train", "validation", "test")] == [5000, 800, 900]
    together = np.concatenate(list(splits.values()))
    assert len(set(together.tolist())) == 6700
    assert together.min() >= 0
    assert together.max() < 1_000_000


def test_the_seed_alone_decides_what_is_held_out():
    small = number_splits(seed=3, num_train=100, num_validation=50, num_test=60)
    large = number_splits(seed=3, num_train=8000, num_validation=900, num_test=70)
    for name, numbers in small.items():
        assert set(numbers.tolist()) <= set(large[name].tolist())
    # Whatever may ever be trained on at this seed is not in any test set of this seed.
    held_out = {*large["validation"].tolist(), *large["test"].tolist()}
    everything = set(number_splits(3, 800_000, 1, 1)["train"].tolist())
    assert not everything & held_out


def test_number_splits_are_the_same_for_ever():
    splits = number_splits(seed=1, num_train=4, num_validation=4, num_test=4)
    assert {name: numbers.tolist() for name, numbers in splits.items()} == EXPECTED_SPLITS
    assert number_splits(2, 4, 4, 4)["test"].tolist() != EXPECTED_SPLITS["test"]


def test_small_numbers_are_trained_on_and_all_sizes_are_tested():
    splits = number_splits(seed=1, num_train=20_000, num_validation=500, num_test=1000)
    assert set(range(FIRST_HELD_OUT)) <= set(splits["train"].tolist())
    assert splits["test"].min() >= FIRST_HELD_OUT
    decades = np.bincount(np.log10(splits["test"]).astype(int), minlength=6)
    assert (decades[3:] > 100).all()


@pytest.mark.parametrize(("size", "named"), [(0, "num_test = 0"), (60_000, "num_test = 60000; expected 1 to 5")])
def test_numbers_that_are_not_there_are_refused(size, named):
    with pytest.raises(InputError, match=named):
        number_splits(1, 10, 10, size)


def test_numbers_are_spelled_in_any_language():
    assert spell(np.array([0, 21, 1001]), "de") == ["null", "einundzwanzig", "eintausendeins"]
    assert spell(np.array([21, 345]), "en") == ["twenty-one", "three hundred and forty-five"]
    with pytest.raises(InputError, match="language 'tlh'"):
        spell(np.array([1]), "tlh")


def test_numbers_corpus():
    config = DataConfig(num_train=30, num_validation=4, num_test=5, source_language="en", target_language="fr")
    corpus = load_corpus(config)
    assert [len(pairs) for pairs in (corpus.train, corpus.validation, corpus.test)] == [30, 4, 5]
    test_numbers = number_splits(1, 30, 4, 5)["test"]
    assert corpus.test == Pairs(spell(test_numbers, "en"), spell(test_numbers, "fr"))
    assert (corpus.source_language, corpus.target_language) == ("en", "fr")


# Files


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


# Downloaded corpora


def test_multi30k_from_the_users_folder(data_folder, offline):
    for name in ("train", "val", "test_2016_flickr"):
        for language in ("de", "en"):
            data_folder(f"multi30k/{name}.{language}.gz", [f"{name} {language}"])
    corpus = load_corpus(DataConfig(corpus="multi30k"))
    assert corpus.train == Pairs(["train de"], ["train en"])
    assert corpus.validation == Pairs(["val de"], ["val en"])
    assert corpus.test == Pairs(["test_2016_flickr de"], ["test_2016_flickr en"])
    turned = load_corpus(DataConfig(corpus="multi30k", source_language="en", target_language="de"))
    assert turned.train == Pairs(["train en"], ["train de"])


@pytest.mark.parametrize(
    ("corpus", "file"),
    [
        ("multi30k", "multi30k/train.de.gz"),
        ("europarl", "europarl/de-en.tgz"),
        ("tatoeba", "tatoeba/deu-eng.zip"),
        ("newstest", "newstest/newstest2008-test.tgz"),
    ],
)
def test_without_network_the_file_to_fetch_is_named(offline, corpus, file):
    with pytest.raises(InputError, match=f"https://.*could not be downloaded.*{file}"):
        load_corpus(DataConfig(corpus=corpus))


def test_newstest_from_the_users_folder(data_folder, offline):
    for year in (2010, 2011, 2013):
        for language in ("de", "en"):
            data_folder(f"newstest/newstest{year}.{language}.gz", [f"{year} {language}"])
    config = DataConfig(corpus="newstest", train_years=(2010, 2011), validation_years=(2013,), test_years=(2010,))
    corpus = load_corpus(config)
    assert corpus.train == Pairs(["2010 de", "2011 de"], ["2010 en", "2011 en"])
    assert corpus.validation == Pairs(["2013 de"], ["2013 en"])
    assert corpus.test == Pairs(["2010 de"], ["2010 en"])


def test_newstest_from_wmts_archive(data_folder, tmp_path, offline):
    source = '<srcset>\n<doc docid="a">\n<seg id="1"> Ein  <b>&amp; </seg>\n<seg id="2">zwei</seg>\n</doc>\n'
    target = '<seg id="1">one\u00a0x</seg>\n  <seg id="9">indented is none</seg>\n<seg id="2">two</seg>\n'
    path = data_folder("newstest/newstest2014-test-full.tgz", [])
    members = {
        "./test-full/newstest2014-deen-src.de.sgm": source,
        "test-full/newstest2014-deen-ref.en.sgm": target,
    }
    path.write_bytes(tgz(members))
    assert newstest.newstest([2014]) == Pairs(["Ein <b>&amp;", "zwei"], ["one x", "two"])


def test_newstest_archives_are_sacrebleus():
    files = {file.path: file for file in find_entry("newstest").files()}
    assert len(files) == 9
    full = files["newstest/newstest2014-test-full.tgz"]
    assert full.url == "https://statmt.org/wmt14/test-full.tgz"
    assert full.checksum == "md5:a8cd784e006feb32ac6f3d9ec7eb389a"


def test_newstest_pairs_and_years_that_are_not_there_are_refused(offline):
    with pytest.raises(InputError, match=r"no pair de-fr; it has .*de-en"):
        newstest.newstest([2015], "de", "fr")
    with pytest.raises(InputError, match="no NewsTest 2007"):
        newstest.newstest([2007])


def write_europarl(data_folder, german, english):
    lines = {"europarl-v7.de-en.de": german, "europarl-v7.de-en.en": english}
    path = data_folder("europarl/de-en.tgz", [])
    path.write_bytes(tgz({name: "".join(f"{line} \n" for line in side) for name, side in lines.items()}))
    return path


def test_europarl_from_its_archive(data_folder, offline, monkeypatch):
    monkeypatch.setattr(europarl, "_PAIRS", 9)
    monkeypatch.setattr(europarl, "_HELD_OUT", 2)
    write_europarl(data_folder, [f"d{i}" for i in "012345678"], [f"e{i}" for i in "012345277"])
    corpus = load_corpus(DataConfig(corpus="europarl"))
    # Pair 2 has a target of the held-out pairs.
    assert corpus.train == Pairs(["d0", "d1", "d3", "d4"], ["e0", "e1", "e3", "e4"])
    assert corpus.validation == Pairs(["d5", "d6"], ["e5", "e2"])
    assert corpus.test == Pairs(["d7", "d8"], ["e7", "e7"])
    turned = read_corpus(DataConfig(corpus="europarl", source_language="en", target_language="de"))
    assert turned.test == Pairs(["e7", "e7"], ["d7", "d8"])


def test_europarl_that_is_not_all_there_is_refused(data_folder, offline):
    write_europarl(data_folder, ["a", "b"], ["a", "b"])
    with pytest.raises(InputError, match=r"has 2 and 2 lines; Europarl v7 has 1920209"):
        load_corpus(DataConfig(corpus="europarl"))


def test_europarl_with_newstest(data_folder, offline):
    for name in ("europarl/train", "newstest/newstest2013", "newstest/newstest2014"):
        data_folder(f"{name}.de.gz", [f"{name} de"])
        data_folder(f"{name}.en.gz", [f"{name} en"])
    config = DataConfig(corpus="europarl", validation_years=(2013,), test_years=(2013, 2014))
    corpus = load_corpus(config)
    assert corpus.train == Pairs(["europarl/train de"], ["europarl/train en"])
    assert corpus.validation.source == ["newstest/newstest2013 de"]
    assert corpus.test.target == ["newstest/newstest2013 en", "newstest/newstest2014 en"]
    assert load_corpus(DataConfig(corpus="europarl")).test is None


@pytest.mark.parametrize(
    ("content", "named"),
    [(tgz({"other": "text\n"}), "holds no europarl-v7.de-en.de"), (b"no archive", "not a whole archive")],
)
def test_an_archive_of_something_else_is_refused(data_folder, offline, content, named):
    data_folder("europarl/de-en.tgz", []).write_bytes(content)
    with pytest.raises(InputError, match=named):
        load_corpus(DataConfig(corpus="europarl"))


def test_an_archive_cut_short_is_refused(data_folder, offline):
    path = write_europarl(data_folder, ["abc"] * 2000, [str(hash(i)) for i in range(2000)])
    path.write_bytes(path.read_bytes()[:-200])
    with pytest.raises(InputError, match=r"not a whole archive.*Delete it"):
        load_corpus(DataConfig(corpus="europarl"))


def write_tatoeba(data_folder, text):
    path = data_folder("tatoeba/deu-eng.zip", [])
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("deu.txt", text)
        archive.writestr("_about.txt", "about")
    return path


def test_tatoeba_from_its_archive(data_folder, offline, monkeypatch):
    monkeypatch.setattr("bytenet.datasets.corpora.tatoeba._HELD_OUT", 2)
    write_tatoeba(data_folder, "".join(f"E{i}.\t D{i}. \tCC-BY 2.0\n" for i in range(8)))
    corpus = load_corpus(DataConfig(corpus="tatoeba", source_language="en", target_language="de"))
    assert (len(corpus.train), len(corpus.validation), len(corpus.test)) == (4, 2, 2)
    together = sorted(corpus.train.source + corpus.validation.source + corpus.test.source)
    assert together == [f"E{i}." for i in range(8)]
    order = sorted(range(8), key=lambda i: hashlib.sha256(f"tatoeba:E{i}.".encode()).hexdigest())
    assert sorted(corpus.validation.target) == sorted(f"D{i}." for i in order[:2])
    turned = load_corpus(DataConfig(corpus="tatoeba"))
    assert turned.test == Pairs(corpus.test.target, corpus.test.source)


def test_tatoeba_lines_without_a_tab_are_refused(data_folder, offline):
    write_tatoeba(data_folder, "One.\tEins.\nTwo.\n")
    with pytest.raises(InputError, match=r"deu\.txt:2: expected English, a tab and German; found 'Two\.'"):
        load_corpus(DataConfig(corpus="tatoeba"))


# Holding out


def test_no_sentence_of_a_held_out_component_is_trained_on():
    random = np.random.RandomState(0)
    pairs = Pairs(*([f"{side}{i}" for i in random.randint(0, 150, 200)] for side in "st"))
    train, validation, test = hold_out_components(pairs, 10, salt="x", max_pairs=5)
    assert len(validation) == len(test) == 10
    splits = [(set(split.source), set(split.target)) for split in (train, validation, test)]
    for one, other in ((0, 1), (0, 2), (1, 2)):
        assert not splits[one][0] & splits[other][0]
        assert not splits[one][1] & splits[other][1]


def test_components_are_joined_over_both_sides():
    # 0-1 share a source, 1-2 a target, 2-3 a source: one component of four; 4 stands alone.
    pairs = Pairs(["a", "a", "b", "b", "c"], ["1", "2", "2", "3", "4"])
    train, validation, test = hold_out_components(pairs, 1, salt="", max_pairs=3)
    assert (train.target, validation.target, test.target) == (["1", "2", "2", "3"], ["4"], [])


def test_hold_out_tail():
    pairs = Pairs(list("abcdef"), list("ABCDEC"))
    train, validation, test = hold_out_tail(pairs, 1)
    assert (train.target, validation.target, test.target) == (["A", "B", "D"], ["E"], ["C"])


# Registry and limits


def test_every_corpus_of_the_issue_is_listed():
    entries = {entry.name: entry for entry in available()}
    assert {"digits", "numbers", "newstest", "europarl", "multi30k", "tatoeba", "files"} == set(entries)
    for entry in entries.values():
        assert entry.description
        assert entry.licence
        for file in entry.files():
            assert file.url.startswith("https://")
            assert file.path.startswith(f"{entry.name}/")


def test_an_unknown_corpus_is_refused_with_the_nearest_name():
    with pytest.raises(InputError, match=r"'multi3k' is not a corpus. Did you mean 'multi30k'\?"):
        load_corpus(DataConfig(corpus="multi3k"))


@pytest.mark.parametrize(
    ("languages", "named"), [(("fr", "en"), "data.source_language = 'fr'"), (("de", "de"), "both 'de'")]
)
def test_languages_a_corpus_does_not_have_are_refused(languages, named):
    with pytest.raises(InputError, match=named):
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


# The real corpora


@pytest.mark.parametrize(("name", "sizes"), [("multi30k", (29000, 1014, 1000)), ("tatoeba", None), ("europarl", None)])
def test_real_corpora_load(real_data, offline, name, sizes):
    if not (real_data / name).is_dir():
        pytest.skip(f"there is no {name} under BYTENET_DATA")
    corpus = load_corpus(DataConfig(corpus=name))
    if sizes is not None:
        assert (len(corpus.train), len(corpus.validation), len(corpus.test)) == sizes
    assert len(corpus.train) > 1000
    assert len(corpus.validation) == len(corpus.validation.target) >= 500


def test_real_newstests_have_the_official_sizes(real_data, offline, caplog):
    if not (real_data / "newstest").is_dir():
        pytest.skip("there is no newstest under BYTENET_DATA")
    sizes = {2008: 2051, 2009: 2525, 2010: 2489, 2011: 3003, 2012: 3003, 2013: 3000, 2014: 3003, 2015: 2169}
    assert {year: len(newstest.newstest([year])) for year in sizes} == sizes
    assert "newstest2009.de" in caplog.text
    assert "U+0085" in caplog.text


def test_missing_training_files_are_named(tmp_path):
    config = DataConfig(corpus="files", train_source=str(tmp_path / "a"), train_target=str(tmp_path / "b"))
    with pytest.raises(MissingFileError, match=r"no file .*a"):
        load_corpus(config)
