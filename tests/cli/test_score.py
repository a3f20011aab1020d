"""`bytenet score`: log-probability and bits per character of given translations."""

import json
import math
import shutil

import numpy as np
import pytest
from scipy.special import softmax

from bytenet.cli.score import score
from bytenet.datasets import Vocabulary
from bytenet.decoding import Translator
from bytenet.errors import InputError


@pytest.fixture
def files(tmp_path):
    (tmp_path / "source").write_text("ein Hund\nzwei\n")
    (tmp_path / "target").write_text("a dog\ntwo\n")
    return tmp_path / "source", tmp_path / "target"


def test_unknown_characters_are_named(run_folder, invoke, files):
    _, target = files
    target.write_text("a ☃dog\ntwo\n", encoding="utf-8")
    assert (
        "Characters that the model does not know, in 1 line: '☃' (U+2603)."
        in invoke(score, run_folder.path, *files).stderr
    )


def test_score_prints_a_line_for_each_pair_and_the_total(run_folder, invoke, files):
    result = invoke(score, run_folder.path, *files)
    rows = [[float(value) for value in line.split("\t")] for line in result.stdout.splitlines()]
    assert [row[1] for row in rows] == [6, 4]
    for nats, characters, bits in rows:
        assert nats < 0
        assert bits == pytest.approx(-nats / characters / math.log(2), abs=1e-3)
    total = -sum(row[0] for row in rows) / 10 / math.log(2)
    name, value, *_ = result.stderr.split("\n")[-2].split()
    assert name == "bits-per-character"
    assert float(value) == pytest.approx(total, abs=1e-3)

    scores = json.loads(invoke(score, run_folder.path, *files, "--json").stdout)
    assert [pair["num_characters"] for pair in scores["pairs"]] == [6, 4]
    assert [pair["log_probability"] for pair in scores["pairs"]] == pytest.approx([row[0] for row in rows], abs=1e-4)
    assert scores["score"]["num_sentences"] == 2


def test_score_equals_the_log_probability_from_the_search(run_folder, invoke, tmp_path):
    # In a wide beam, some hypothesis ends after at most two letters.
    [hypotheses] = Translator.from_run(run_folder, beam_size=30, max_length=3).translate(["ein Hund"], n_best=30)
    ended = next(hypothesis for hypothesis in hypotheses if hypothesis.ended and hypothesis.text)
    (tmp_path / "source").write_text("ein Hund\n")
    (tmp_path / "target").write_text(f"{ended.text}\n")
    result = invoke(score, run_folder.path, tmp_path / "source", tmp_path / "target")
    assert float(result.stdout.split("\t")[0]) == pytest.approx(ended.log_probability, abs=1e-3)


def test_the_name_of_a_model_scores_as_its_run(run_folder, shipped, invoke, files):
    assert invoke(score, "de-en", *files).stdout == invoke(score, run_folder.path, *files).stdout


def scores_of(printed):
    return [float(line.split("\t")[0]) for line in printed.splitlines()]


def test_several_models_score_with_the_mean_of_their_probabilities(run_folder, attentive_run_folder, invoke, files):
    from bytenet.decoding.batches.batching import pad_batch
    from bytenet.run_folder import RunFolder

    alone, twice = (scores_of(invoke(score, *[run_folder.path] * count, *files).stdout) for count in (1, 2))
    assert twice == pytest.approx(alone, abs=1e-3)

    runs = [RunFolder(run.path) for run in (run_folder, attentive_run_folder)]
    encode, models = runs[0].vocabulary.encode, [run.load_model() for run in runs]
    expected = []
    for pair in (("ein Hund", "a dog"), ("zwei", "two")):
        source_ids, target_ids = map(encode, pair)
        length = max(len(source_ids), len(target_ids))
        inputs = {"source_ids": pad_batch([source_ids], 1, length), "target_ids": pad_batch([target_ids], 1, length)}
        mean = np.mean([softmax(np.asarray(model(inputs)[0]), axis=-1) for model in models], axis=0)
        expected.append(sum(math.log(mean[place, symbol]) for place, symbol in enumerate(target_ids)))
    together = scores_of(invoke(score, *(run.path for run in runs), *files).stdout)
    assert together == pytest.approx(expected, abs=1e-3)


def test_models_of_different_vocabularies_do_not_score_together(run_folder, invoke, files, tmp_path):
    other = shutil.copytree(run_folder.path, tmp_path / "other")
    (other / "vocabulary.json").write_text(Vocabulary("abc").to_json(), encoding="utf-8")
    with pytest.raises(InputError, match="different vocabularies"):
        invoke(score, run_folder.path, other, *files)


def test_unequal_line_counts_are_refused(run_folder, invoke, files):
    files[1].write_text("a dog\n")
    with pytest.raises(InputError, match=r"2 lines but .* 1"):
        invoke(score, run_folder.path, *files)
