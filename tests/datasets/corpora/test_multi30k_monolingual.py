"""Multi30k with monolingual captions: which images they describe, and which captions are left out."""

import re

import pytest

from bytenet.config import DataConfig
from bytenet.datasets import load_corpus, read_corpus
from bytenet.datasets.corpora import find_entry
from bytenet.errors import InputError

NUM_IMAGES = 30


@pytest.fixture
def write_corpus(data_folder):
    """Write a small corpus. "en image 7, 3" is the third English caption of image 7. `changed` replaces lines.

    As in the real corpus, the second English caption of an image is the English side of its pair.
    """

    def write(changed=None, num_images=NUM_IMAGES):
        changed = changed or {}
        for language in ("de", "en"):
            for split in ("train", "val", "test_2016_flickr"):
                lines = [
                    f"{language} image {i}, 2" if (language, split) == ("en", "train") else f"{language} {split} {i}"
                    for i in range(NUM_IMAGES)
                ]
                data_folder(f"multi30k/{split}.{language}.gz", lines)
            for number in range(1, 6):
                lines = [f"{language} image {i}, {number}" for i in range(num_images)]
                data_folder(f"multi30k-task2/train.{number}.{language}.gz", [changed.get(t, t) for t in lines])

    return write


def config(**settings):
    return DataConfig(corpus="multi30k-monolingual", **settings)


def images_of(texts):
    return {int(re.search(r"\d+", text.partition("image" if "image" in text else "train")[2])[0]) for text in texts}


def test_pairs_and_captions_of_each_language_use_different_images(write_corpus, offline):
    write_corpus()
    corpus = load_corpus(config())
    images = [images_of(texts) for texts in (corpus.train.target, corpus.monolingual_source, corpus.monolingual_target)]
    assert [len(found) for found in images] == [10, 10, 10]
    assert set.union(*images) == set(range(NUM_IMAGES))
    # Each part is drawn from the whole file, because captions grow longer towards its end.
    assert all(min(found) < NUM_IMAGES / 3 and max(found) > 2 * NUM_IMAGES / 3 for found in images)
    assert len(corpus.monolingual_source) == 5 * 10
    assert len(corpus.monolingual_target) == 4 * 10, "those with a translation are left out"
    assert len(corpus.validation) == len(corpus.test) == NUM_IMAGES


def test_pair_limit_and_direction_do_not_change_monolingual_text(write_corpus, offline):
    write_corpus()
    whole = load_corpus(config())
    few = load_corpus(config(max_train_pairs=3))
    assert set(few.train.source) < set(whole.train.source)
    assert few.monolingual_source == whole.monolingual_source
    turned = load_corpus(config(source_language="en", target_language="de"))
    assert turned.train.source == whole.train.target
    assert (turned.monolingual_source, turned.monolingual_target) == (
        whole.monolingual_target,
        whole.monolingual_source,
    )
    assert load_corpus(config(reversed=True)).monolingual_source == whole.monolingual_target


def test_known_and_repeated_captions_are_left_out(write_corpus, offline):
    write_corpus()
    german = read_corpus(config()).monolingual_source[:6]
    # One German sentence each of a training, validation and test pair, a decomposed character and double blanks, and
    # one text twice.
    texts = ["de train 0", " de val 3", "de test_2016_flickr 3 ", "zwei  u\u0308", "twice", "twice "]
    write_corpus(dict(zip(german, texts, strict=True)))
    changed = read_corpus(config()).monolingual_source
    assert changed[:2] == ["zwei  ü", "twice"]  # in NFC, like all text
    assert changed[2:] == [f"de image {i}, {k}" for k in range(1, 6) for i in sorted(images_of(changed[2:]))][6:]


def test_users_own_text_replaces_the_captions(write_corpus, data_folder, offline):
    write_corpus()
    path = data_folder("mine.en", ["my own"])
    (path.parent / "multi30k-task2" / "train.4.en.gz").unlink()
    corpus = load_corpus(config(monolingual_target=str(path)))
    assert corpus.monolingual_target == ["my own"]
    assert len(corpus.monolingual_source) == 50


def test_files_with_wrong_line_counts_are_refused(write_corpus, offline):
    write_corpus(num_images=29)
    with pytest.raises(InputError, match=r"train\.1\.de\.gz has 29 lines, but Multi30k's training set has 30 pairs"):
        load_corpus(config())


def test_offline_error_names_the_file_to_fetch(write_corpus, data_folder, offline):
    write_corpus()
    (data_folder("other", []).parent / "multi30k-task2" / "train.3.en.gz").unlink()
    with pytest.raises(InputError, match=r"raw/train\.3\.en\.gz could not be downloaded.*multi30k-task2/train\.3\.en"):
        load_corpus(config())


def test_every_file_has_a_checksum_and_a_size():
    files = {file.path: file for file in find_entry("multi30k-monolingual").files()}
    assert len(files) == 16
    assert files["multi30k-task2/train.5.en.gz"].url.endswith("data/task2/raw/train.5.en.gz")
    assert all(re.fullmatch("sha256:[0-9a-f]{64}", file.checksum) and file.size_bytes for file in files.values())


def test_real_captions_are_unique_and_not_in_the_pairs(real_data, offline):
    real_data("multi30k-task2")
    corpus = read_corpus(config())
    assert len(corpus.train) == 9667
    multi30k = read_corpus(DataConfig(corpus="multi30k"))
    for texts, side in ((corpus.monolingual_source, "source"), (corpus.monolingual_target, "target")):
        assert len(texts) == len(set(texts)) > 38000
        for pairs in (multi30k.train, multi30k.validation, multi30k.test):
            assert not set(texts) & set(getattr(pairs, side))
