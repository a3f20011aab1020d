"""The workers compare what they train, and each message names the worker and the difference."""

import json
from types import SimpleNamespace

import pytest

from bytenet.config import load_config
from bytenet.errors import InputError
from bytenet.training.distribution import same_training
from bytenet.training.distribution.cluster import Cluster
from bytenet.training.tasks import make_task

CLUSTER = Cluster(("host1:5000", "host2:5000"), index=0)


@pytest.fixture(scope="module")
def corpora(tmp_path_factory):
    """A corpus of a user, and the same in two other places: once equal, once with another validation sentence."""
    folders = [tmp_path_factory.mktemp(name) for name in ("first", "equal", "other")]
    for folder in folders:
        for side in ("train.de", "train.en", "valid.de"):
            (folder / side).write_text("ein Haus\nzwei Bäume\ndrei\n" * 4, encoding="utf-8")
        valid = "another one\ntwo\nthree\n" if folder.name.startswith("other") else "one\ntwo\nthree\n"
        (folder / "valid.en").write_text(valid * 4, encoding="utf-8")
    return dict(zip(("first", "equal", "other"), folders, strict=True))


def task_of(folder, *settings):
    files = {"train_source": "train.de", "train_target": "train.en", "validation_source": "valid.de"}
    files["validation_target"] = "valid.en"
    places = [f"data.{key}={folder / name}" for key, name in files.items()]
    small = ["data.corpus=files", "model.dim=4", "model.num_sets=1", "model.dilations=[1]"]
    return make_task(load_config("pairs-2k", [*small, *places, *settings]))


def compare(own, description_of_other):
    """Compare as worker 0 of two."""
    workers = SimpleNamespace(cluster=CLUSTER, texts=lambda text: [text, json.dumps(description_of_other)])
    same_training.check_same_training(workers, own)


def test_the_same_data_may_lie_in_another_folder(corpora):
    compare(task_of(corpora["first"]), same_training._description(task_of(corpora["equal"])))


@pytest.mark.parametrize(
    ("folder", "settings", "difference"),
    [
        ("equal", ["data.max_train_pairs=9"], "training data with the fingerprint"),
        ("other", [], "validation data with the fingerprint"),
        ("equal", ["training.seed=5"], r"training.seed '5', but worker 0 \(host1:5000\) has '1'"),
    ],
)
def test_other_data_and_settings_are_refused(corpora, folder, settings, difference):
    other = same_training._description(task_of(corpora[folder], *settings))
    with pytest.raises(InputError, match=rf"worker 1 \(host2:5000\) has {difference}"):
        compare(task_of(corpora["first"]), other)


@pytest.mark.parametrize(
    ("function", "answer", "difference"),
    [
        ("package_versions", {"keras": "0.1"}, r"the version of keras '0.1'"),
        ("_code_fingerprint", "abc", "the program with the fingerprint 'abc'"),
    ],
)
def test_other_versions_are_refused(corpora, monkeypatch, function, answer, difference):
    task = task_of(corpora["first"])
    with monkeypatch.context() as patches:
        patches.setattr(same_training, function, lambda: answer)
        other = same_training._description(task)
    with pytest.raises(InputError, match=rf"worker 1 \(host2:5000\) has {difference}"):
        compare(task, other)
