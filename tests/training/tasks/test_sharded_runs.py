"""Training from shards: the same promises as from memory."""

import gzip
import re
import shutil
from types import SimpleNamespace

import numpy as np
import pytest

from bytenet.config import load_config
from bytenet.datasets import load_corpus, read_corpus
from bytenet.datasets.batches.share import Share
from bytenet.datasets.shards.folder import ShardFolder
from bytenet.datasets.shards.sharding.filters import FilterSettings
from bytenet.datasets.shards.sharding.shard_corpus import shard_corpus
from bytenet.datasets.shards.sharding.tf_record import framed
from bytenet.errors import ConfigError, InputError
from bytenet.evaluation import pairs_of_split
from bytenet.training import train
from bytenet.training.starts import take_over_start
from bytenet.training.tasks import make_task
from bytenet.training.tasks.pairs.in_shards import PairsInShards

NOTHING = [f"data.{name}=null" for name in ("num_train", "num_validation", "num_test")]


@pytest.fixture(scope="module")
def text(tmp_path_factory):
    """Files of 72 training pairs and 8 validation pairs of numbers."""
    folder = tmp_path_factory.mktemp("text")
    corpus = read_corpus(load_config("digits", ["data.num_train=72", "data.num_validation=8"]).data)
    for split in ("train", "validation"):
        for side in ("source", "target"):
            lines = getattr(getattr(corpus, split), side)
            (folder / f"{split}.{side}").write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return folder


@pytest.fixture(scope="module")
def config(text, smallest_config, tmp_path_factory):
    """Make the configuration of a run from three shards, with further overrides."""
    folder = tmp_path_factory.mktemp("shards")
    inputs = [str(text / f"train.{side}") for side in ("source", "target")]
    everything = FilterSettings(max_ratio=None, identical=False, duplicates=False)
    languages = ("de", "en")
    report = shard_corpus(inputs, folder, languages, everything, shards=3, duplicates_megabytes=1, processes=0)
    assert report.kept == 72
    held_out = [f"data.validation_{side}={text / f'validation.{side}'}" for side in ("source", "target")]
    settings = ["data.corpus=shards", f"data.train_shards={folder}", *NOTHING, *held_out, "data.pad_to_multiple_of=64"]
    settings += ["data.source_language=de", "data.target_language=en"]
    return lambda *overrides: smallest_config(*settings, *overrides)


def test_workers_have_their_own_rows_of_the_same_batches(config):
    """Each of three workers reads one of the three shards."""
    settings = config("data.batch_size=12")
    shares = [PairsInShards(settings, None, replicas=3, share=Share(3, worker)) for worker in range(3)]
    rows = [next(iter(pairs.dataset(0, 0))) for pairs in shares]
    (planned,) = {tuple(pairs.stream.batch_at(0).indices) for pairs in shares}
    assert all(len(targets) == 4 for _, targets, _ in rows)
    real = sum(int(np.count_nonzero(targets[:, 0])) for _, targets, _ in rows)
    assert real == sum(index >= 0 for index in planned)
    # A weight is the number of rows in the whole batch over the number of characters in it.
    characters = sum(int(np.count_nonzero(targets)) for _, targets, _ in rows)
    for _, _, weights in rows:
        np.testing.assert_allclose(weights[weights > 0], 12 / characters, rtol=1e-6)


def test_a_task_knows_all_about_the_pairs_without_reading_them(config, text, smallest_config):
    sides = [f"data.train_{side}={text / f'train.{side}'}" for side in ("source", "target")]
    in_memory = make_task(smallest_config("data.corpus=files", *NOTHING, *sides, "data.max_length=12"))
    task = make_task(config("data.max_length=12"))
    assert task.pairs.number == in_memory.pairs.number < 72
    assert task.pairs.left_out == in_memory.pairs.left_out
    for side in ("source", "target"):
        lengths = np.repeat(task.pairs.lengths[side], task.pairs.length_counts)
        assert sorted(lengths) == sorted(in_memory.pairs.lengths[side])
    assert task.total_steps == 2 * task.plan.num_batches
    assert (
        make_task(config()).vocabulary == make_task(smallest_config("data.corpus=files", *NOTHING, *sides)).vocabulary
    )


def test_streams_tell_what_the_batches_have(config):
    for overrides in ((), ("data.reversed=true",)):
        task = make_task(config(*overrides))
        stream, count = task.streams["pairs"], task.plan.num_batches
        batches = task.dataset(0).take(2 * count)
        for step, (ids, target_ids, _) in enumerate(batches):
            planned = stream.batch_at(step)
            assert tuple(ids["source_ids"].shape) == (len(planned.indices), planned.length)
            assert (ids["source_ids"].numpy()[:, 0] != 0).tolist() == (planned.indices >= 0).tolist()
            assert stream.target_chars_at(step) == np.count_nonzero(target_ids)


def test_a_stopped_run_ends_as_an_unbroken_one(config, equal_final_states, eagerly, unmeasured, interrupted, tmp_path):
    settings = config("model.dropout=0.2", "training.accumulate_batches=2", "training.max_steps=7")
    train(settings, tmp_path / "unbroken")
    with interrupted(5), pytest.raises(KeyboardInterrupt, match="step 5; everything is saved"):
        train(settings, tmp_path / "stopped")
    train(settings, tmp_path / "stopped", resume=True)
    state, _ = equal_final_states(tmp_path / "stopped", tmp_path / "unbroken")
    assert state["epoch"] == 1  # the rest of an epoch that goes on, and the beginning of another one
    assert state["characters"] > 72


def test_the_start_says_what_is_trained(config, beginnings, tmp_path, capsys):
    train(config("model.unfold_scale=0.2", "model.unfold_offset=0"), tmp_path / "run")
    said = capsys.readouterr().err
    assert "shards: 72 training pairs de -> en (0 left out" in said
    assert "8 for validation" in said
    assert "of the training targets are longer than the model may write" in said


def test_changed_shards_are_not_resumed(config):
    task, shorter = make_task(config()), make_task(config("data.max_length=12"))
    assert task.data_fingerprint() == make_task(config()).data_fingerprint()
    others = shorter, make_task(config("data.reversed=true"))
    assert len({task.data_fingerprint(), *(other.data_fingerprint() for other in others)}) == 3


@pytest.fixture
def changing_shards(config, tmp_path, monkeypatch):
    """A function that copies the shards. After a training has checked them, it changes the files of each."""
    check = ShardFolder.check

    def copy(change):
        def check_and_change(folder):
            check(folder)
            for shard in folder.shards:
                change(shard.paths)

        monkeypatch.setattr(ShardFolder, "check", check_and_change)
        return shutil.copytree(config().data.train_shards, tmp_path / "shards")

    return copy


def damaged(content):
    return content[:60] + bytes(8) + content[68:]


def with_another_last_record(content):
    return gzip.compress(gzip.decompress(content)[:-5] + b"?" * 5)


def with_fewer_pairs(content):
    return gzip.compress(gzip.decompress(content)[: -len(framed([b"1\n2"]))])


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (damaged, r"inflate\(\) failed with error -3: incorrect data check"),
        (with_another_last_record, "corrupted record at 801"),
        (with_fewer_pairs, r"\S*shard-0000\d.tfrecord.gz has texts of other lengths than expected"),
        (lambda content: gzip.compress(b""), r"\S*shard-0000\d.tfrecord.gz has texts of other lengths than expected"),
        (lambda content: None, r"\S*shard-0000\d.tfrecord.gz; No such file or directory"),
    ],
)
def test_a_shard_that_changes_during_a_training_is_explained(config, changing_shards, tmp_path, content, reason):
    def change(paths):
        changed = content(paths.records.read_bytes())
        paths.records.unlink()
        if changed is not None:
            paths.records.write_bytes(changed)

    with pytest.raises(InputError) as error:
        train(config(f"data.train_shards={changing_shards(change)}"), tmp_path / "run")
    assert re.match(f"A shard cannot be used: {reason}[.].* The checkpoints are intact[.]", str(error.value))
    assert "Traceback" not in str(error.value)


def test_lengths_that_change_during_a_training_are_explained(config, changing_shards, tmp_path):
    folder = changing_shards(lambda paths: np.save(paths.lengths, np.load(paths.lengths) + np.uint16(1)))
    with pytest.raises(InputError, match=r"shard-0000\d.json counts other lengths than shard-0000"):
        train(config(f"data.train_shards={folder}"), tmp_path / "run")


@pytest.mark.parametrize(
    ("overrides", "message"),
    [
        (("semi_supervised.enabled=true",), "semi_supervised.enabled needs the pairs in memory"),
        (("evaluation.continuous_train=true",), "evaluation.continuous_train draws from training pairs in memory"),
        (("data.source_language=da",), r"are marked de to en, but .* are da and en\. If the mark is right, set"),
    ],
)
def test_what_shards_cannot_do_is_refused(config, overrides, message):
    with pytest.raises(ConfigError, match=message):
        make_task(config(*overrides))


@pytest.mark.parametrize(
    ("overrides", "message"),
    [
        (("data.shuffle=none",), "shuffle is 'none', but with corpus: shards it must be corpus"),
        (("data.unknown=drop",), "unknown is 'drop', but with corpus: shards it must be symbol or error"),
        (("data.max_train_pairs=5",), "max_train_pairs is 5, but with corpus: shards it must be null"),
        (("data.train_shards=null",), "corpus: shards needs train_shards"),
        (("data.train_source=x", "data.train_target=y"), "to files, or leave out train_source and train_target"),
        (("data.corpus=files", "data.train_source=x", "data.train_target=y"), "train_shards needs corpus: shards"),
    ],
)
def test_settings_that_do_not_suit_shards_are_refused(config, overrides, message):
    with pytest.raises(ConfigError, match=message):
        config(*overrides)


def test_shards_refuse_a_start_that_drops_unknown_characters(config, supervised_run):
    start = supervised_run("start", "data.unknown=drop")
    with pytest.raises(ConfigError, match=r"The model of training\.start drops unknown characters .* shards cannot do"):
        take_over_start(config(f"training.start={start.path}"))


def test_the_text_of_shards_is_only_for_training(config, tmp_path):
    with pytest.raises(ConfigError, match=r"are not read into memory.* `bytenet profile` without --decode"):
        load_corpus(config().data)

    folder = SimpleNamespace(path=tmp_path, config=config())
    assert len(pairs_of_split(folder, "validation")) == 8
    with pytest.raises(InputError, match=r"The training pairs of shards cannot be evaluated\. Choose another --split"):
        pairs_of_split(folder, "train")
    with pytest.raises(InputError, match=r"no test pairs; it has validation\. Choose one of these with --split, or"):
        pairs_of_split(folder, "test")

    folder.config = config("data.validation_source=null", "data.validation_target=null")
    with pytest.raises(InputError, match=r"'shards' has no pairs to evaluate with\. Give files with --source and"):
        pairs_of_split(folder, "test")


def test_rare_characters_that_must_be_known_are_refused_at_the_start(config, tmp_path):
    settings = config("data.unknown=error", "data.min_character_count=40")
    advice = r"Set data\.unknown to symbol, or data\.min_character_count to 1\.$"
    with pytest.raises(InputError, match=rf"does not have \d+ of the characters in the shards, .*: '.', .* {advice}"):
        train(settings, tmp_path / "run")
    assert not (tmp_path / "run").exists()
    make_task(config("data.unknown=error"))
