"""Downloaded corpora, read from small files in the same format, and from the real files where available."""

import errno
import hashlib
import io
import tarfile
import zipfile

import pytest

from bytenet.config import DataConfig
from bytenet.datasets import load_corpus, read_corpus
from bytenet.datasets.corpora import europarl, find_entry, newstest
from bytenet.datasets.parallel import Pairs
from bytenet.errors import InputError


def tgz(members: dict[str, str]) -> bytes:
    content = io.BytesIO()
    with tarfile.open(fileobj=content, mode="w:gz") as archive:
        for name, text in members.items():
            member = tarfile.TarInfo(name)
            member.size = len(text.encode())
            archive.addfile(member, io.BytesIO(text.encode()))
    return content.getvalue()


def test_multi30k_is_read_from_the_users_folder(data_folder, offline):
    for name in ("train", "val", "test_2016_flickr", "test_2017_flickr"):
        for language in ("de", "en"):
            data_folder(f"multi30k/{name}.{language}.gz", [f"{name} {language}"])
    corpus = load_corpus(DataConfig(corpus="multi30k"))
    assert corpus.train == Pairs(["train de"], ["train en"])
    assert corpus.validation == Pairs(["val de"], ["val en"])
    assert corpus.test == Pairs(["test_2016_flickr de"], ["test_2016_flickr en"])
    turned = load_corpus(DataConfig(corpus="multi30k", source_language="en", target_language="de"))
    assert turned.train == Pairs(["train en"], ["train de"])
    later = load_corpus(DataConfig(corpus="multi30k-2017"))
    assert (later.train, later.test) == (corpus.train, Pairs(["test_2017_flickr de"], ["test_2017_flickr en"]))


@pytest.mark.parametrize(
    ("corpus", "file"),
    [
        ("multi30k", "multi30k/train.de.gz"),
        ("multi30k-2017", "multi30k/train.de.gz"),
        ("europarl", "europarl/de-en.tgz"),
        ("tatoeba", "tatoeba/deu-eng.zip"),
        ("newstest", "newstest/newstest2008-test.tgz"),
    ],
)
def test_offline_error_names_the_file_to_fetch(offline, corpus, file):
    with pytest.raises(InputError, match=f"https://.*could not be downloaded.*{file}"):
        load_corpus(DataConfig(corpus=corpus))


def test_newstest_is_read_from_the_users_folder(data_folder, offline):
    for year in (2010, 2011, 2013):
        for language in ("de", "en"):
            data_folder(f"newstest/newstest{year}.{language}.gz", [f"{year} {language}"])
    config = DataConfig(corpus="newstest", train_years=(2010, 2011), validation_years=(2013,), test_years=(2010,))
    corpus = load_corpus(config)
    assert corpus.train == Pairs(["2010 de", "2011 de"], ["2010 en", "2011 en"])
    assert corpus.validation == Pairs(["2013 de"], ["2013 en"])
    assert corpus.test == Pairs(["2010 de"], ["2010 en"])


def test_newstest_is_read_from_the_wmt_archive(data_folder, offline):
    source = '<srcset>\n<doc docid="a">\n<seg id="1"> Ein  <b>&amp; </seg>\n<seg id="2">zwei</seg>\n</doc>\n'
    target = '<seg id="1">one\u00a0x</seg>\n  <seg id="9">indented is none</seg>\n<seg id="2">two</seg>\n'
    path = data_folder("newstest/newstest2014-test-full.tgz", [])
    members = {
        "./test-full/newstest2014-deen-src.de.sgm": source,
        "test-full/newstest2014-deen-ref.en.sgm": target,
    }
    path.write_bytes(tgz(members))
    assert newstest.newstest([2014]) == Pairs(["Ein <b>&amp;", "zwei"], ["one x", "two"])


def test_newstest_archives_with_unequal_sides_are_refused(data_folder, offline):
    path = data_folder("newstest/newstest2014-test-full.tgz", [])
    sides = {"src.de": '<seg id="1">eins</seg>\n<seg id="2">zwei</seg>\n', "ref.en": '<seg id="1">one</seg>\n'}
    path.write_bytes(tgz({f"test-full/newstest2014-deen-{name}.sgm": text for name, text in sides.items()}))
    message = r"-full\.tgz: .*-src\.de\.sgm has 2 sentences but .*-ref\.en\.sgm has 1; expected the same number\."
    with pytest.raises(InputError, match=message):
        newstest.newstest([2014])


def test_newstest_archives_match_sacrebleu():
    files = {file.path: file for file in find_entry("newstest").files()}
    assert len(files) == 9
    full = files["newstest/newstest2014-test-full.tgz"]
    assert full.url == "https://statmt.org/wmt14/test-full.tgz"
    assert full.checksum == "md5:a8cd784e006feb32ac6f3d9ec7eb389a"


def test_newstest_refuses_unknown_language_pairs_and_years(offline):
    with pytest.raises(InputError, match=r"not have the language pair de-fr; it has .*de-en"):
        newstest.newstest([2015], "de", "fr")
    with pytest.raises(InputError, match="no NewsTest 2007"):
        newstest.newstest([2007])


def write_europarl(data_folder, german, english):
    lines = {"europarl-v7.de-en.de": german, "europarl-v7.de-en.en": english}
    path = data_folder("europarl/de-en.tgz", [])
    path.write_bytes(tgz({name: "".join(f"{line} \n" for line in side) for name, side in lines.items()}))
    return path


def test_europarl_is_read_from_its_archive(data_folder, offline, monkeypatch):
    monkeypatch.setattr(europarl, "_PAIRS", 9)
    monkeypatch.setattr(europarl, "_HELD_OUT", 2)
    write_europarl(data_folder, [f"d{i}" for i in "012345678"], [f"e{i}" for i in "012345277"])
    corpus = load_corpus(DataConfig(corpus="europarl"))
    # Pair 2 has the same target as a held-out pair.
    assert corpus.train == Pairs(["d0", "d1", "d3", "d4"], ["e0", "e1", "e3", "e4"])
    assert corpus.validation == Pairs(["d5", "d6"], ["e5", "e2"])
    assert corpus.test == Pairs(["d7", "d8"], ["e7", "e7"])
    turned = read_corpus(DataConfig(corpus="europarl", source_language="en", target_language="de"))
    assert turned.test == Pairs(["e7", "e7"], ["d7", "d8"])


def test_incomplete_europarl_is_refused(data_folder, offline):
    write_europarl(data_folder, ["a", "b"], ["a", "b"])
    with pytest.raises(InputError, match=r"has 2 and 2 lines; expected 1920209 each"):
        load_corpus(DataConfig(corpus="europarl"))


def test_europarl_uses_newstest_for_validation_and_test(data_folder, offline):
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
    [(tgz({"other": "text\n"}), "does not contain europarl-v7.de-en.de"), (b"no archive", "not a complete archive")],
    ids=["another archive", "no archive"],  # the bytes of an archive contain the time
)
def test_archive_with_other_content_is_refused(data_folder, offline, content, named):
    data_folder("europarl/de-en.tgz", []).write_bytes(content)
    with pytest.raises(InputError, match=named):
        load_corpus(DataConfig(corpus="europarl"))


def test_truncated_archive_is_refused(data_folder, offline):
    path = write_europarl(data_folder, ["abc"] * 2000, [str(hash(i)) for i in range(2000)])
    path.write_bytes(path.read_bytes()[:-200])
    with pytest.raises(InputError, match=r"not a complete archive.*Delete it"):
        load_corpus(DataConfig(corpus="europarl"))


def test_an_archive_that_may_not_be_read_is_not_called_damaged(data_folder, offline, monkeypatch):
    write_europarl(data_folder, ["abc"], ["def"])

    def refuse(path):
        raise PermissionError(errno.EACCES, "Permission denied")

    monkeypatch.setattr("gzip.open", refuse)
    with pytest.raises(InputError, match=r"de-en\.tgz cannot be read: Permission denied\. Change its permissions\.$"):
        load_corpus(DataConfig(corpus="europarl"))


def test_a_damaged_archive_is_refused(data_folder, offline):
    path = write_europarl(data_folder, ["abc"], ["def"])
    content = bytearray(path.read_bytes())
    content[-8] ^= 1  # a bit of the checksum
    path.write_bytes(content)
    with pytest.raises(InputError, match=r"not a complete archive.*CRC"):
        load_corpus(DataConfig(corpus="europarl"))


def write_tatoeba(data_folder, text):
    path = data_folder("tatoeba/deu-eng.zip", [])
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("deu.txt", text)
        archive.writestr("_about.txt", "about")
    return path


def test_tatoeba_is_read_from_its_archive(data_folder, offline, monkeypatch):
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


@pytest.mark.parametrize(("name", "sizes"), [("multi30k", (29000, 1014, 1000)), ("tatoeba", None), ("europarl", None)])
def test_real_corpora_load(real_data, offline, name, sizes):
    real_data(name)
    corpus = load_corpus(DataConfig(corpus=name))
    if sizes is not None:
        assert (len(corpus.train), len(corpus.validation), len(corpus.test)) == sizes
    assert len(corpus.train) > 1000
    assert len(corpus.validation) == len(corpus.validation.target) >= 500


def test_real_newstests_have_the_official_sizes(real_data, offline, caplog):
    real_data("newstest")
    sizes = {2008: 2051, 2009: 2525, 2010: 2489, 2011: 3003, 2012: 3003, 2013: 3000, 2014: 3003, 2015: 2169}
    assert {year: len(newstest.newstest([year])) for year in sizes} == sizes
    assert "newstest2009.de" in caplog.text
    assert "U+0085" in caplog.text


@pytest.mark.parametrize("split", ["validation", "test"])
def test_training_on_a_year_of_another_split_gives_a_warning(data_folder, offline, caplog, split):
    for year in (2012, 2013, 2015):
        for language in ("de", "en"):
            data_folder(f"newstest/newstest{year}.{language}", [f"{year} {language}"])
    year = {"validation": 2013, "test": 2015}[split]
    load_corpus(DataConfig(corpus="newstest", train_years=(2012,)))
    assert not caplog.messages
    load_corpus(DataConfig(corpus="newstest", train_years=(2012, year)))
    (message,) = caplog.messages
    assert message.startswith(f"NewsTest {year}: training pairs are also {split} pairs")
