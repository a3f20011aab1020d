"""The files of an evaluation."""

import json

import pytest

from bytenet.errors import InputError
from bytenet.evaluation import Evaluation, Score, samples_table, text_scores
from bytenet.evaluation.run_page import _evaluation as _evaluation_section
from bytenet.files import PARTIAL
from bytenet.run_folder import RunFolder
from bytenet.saved.evaluations import saved_evaluations


def _evaluation(**changes):
    values = {
        "name": "test",
        "sources": ["ein Hund", ""],
        "references": ["a dog", ""],
        "hypotheses": ["a dog", ""],
        "scores": [Score("BLEU", 50.0, 2)],
        "settings": {"beam_size": 4},
        "seconds": 2.5,
        "num_unended": 1,
    }
    return Evaluation(**values | changes)


def test_save_writes_scores_translations_and_samples(tmp_path):
    paths = _evaluation(references=["a cat", ""]).save(tmp_path / "evaluation")
    suffixes = ["json", "hypotheses.txt", "references.txt", "samples.md"]
    assert [path.name for path in paths] == [f"test.{suffix}" for suffix in suffixes]
    saved = json.loads(paths[0].read_text())
    assert saved["scores"] == [Score("BLEU", 50.0, 2).to_dict()]
    assert saved["characters_per_second"] == 2
    assert saved["num_unended"] == 1
    assert paths[1].read_text() == "a dog\n\n"
    assert paths[2].read_text() == "a cat\n\n"


def test_save_changes_all_files_or_none(tmp_path):
    paths = _evaluation(hypotheses=["a dog", ""]).save(tmp_path)
    before = [path.read_bytes() for path in paths]
    with pytest.raises(UnicodeEncodeError):
        _evaluation(hypotheses=["a cat", "\ud800"]).save(tmp_path)
    assert [path.read_bytes() for path in paths] == before


def test_a_folder_with_the_name_of_a_file_leaves_the_others_as_they_were(tmp_path):
    scores, *others = _evaluation().save(tmp_path)
    before = [path.read_bytes() for path in others]
    scores.unlink()
    scores.mkdir()
    with pytest.raises(InputError, match=r"test\.json is a folder"):
        _evaluation(hypotheses=["a cat", ""], references=["a cat", ""]).save(tmp_path)
    assert [path.read_bytes() for path in others] == before


def test_saved_evaluations_are_read_by_name(tmp_path):
    run = RunFolder(tmp_path)
    assert saved_evaluations(run.evaluation, run.model_sha256) == {}
    names = ["b", "a.first-2"]
    paths = [
        _evaluation(name=name, scores=[Score("BLEU", 50.0, 2, interval=(40.0, 60.0))]).save(run.evaluation)[0]
        for name in names
    ]
    (run.evaluation / f"{PARTIAL}machine-1-2-b.json").write_text("half")
    saved = saved_evaluations(run.evaluation, run.model_sha256)
    assert [*saved] == sorted(names)
    assert saved["b"]["scores"][0]["interval"] == (40, 60)
    assert saved["b"]["settings"] == {"beam_size": 4}
    paths[0].write_text("{}")
    with pytest.raises(InputError, match=r"b\.json is damaged .*the scores that `bytenet evaluate` wrote"):
        saved_evaluations(run.evaluation, run.model_sha256)


def test_evaluations_of_an_earlier_model_of_the_run_are_not_read(tmp_path):
    run = RunFolder(tmp_path)
    run.model_path.write_bytes(b"earlier")
    earlier = run.model_sha256
    _evaluation(name="validation", model_sha256=earlier).save(run.evaluation)
    assert [*saved_evaluations(run.evaluation, run.model_sha256)] == ["validation"]
    run.model_path.write_bytes(b"later")
    assert saved_evaluations(run.evaluation, run.model_sha256) == {}
    _evaluation(name="test", model_sha256=run.model_sha256).save(run.evaluation)
    path, *_ = _evaluation(name="old").save(run.evaluation)
    saved = json.loads(path.read_text())
    del saved["model_sha256"]  # as older versions saved it
    path.write_text(json.dumps(saved))
    assert [*saved_evaluations(run.evaluation, run.model_sha256)] == ["old", "test"]
    run.model_path.unlink()
    assert [*saved_evaluations(run.evaluation, run.model_sha256)] == ["old", "test", "validation"]


@pytest.mark.parametrize(
    ("total", "count", "chosen"),
    [
        (2000, 20, range(0, 2000, 100)),
        (30, 20, [0, 1, 3, 4, 6, 7, 9, 10, 12, 13, 15, 16, 18, 19, 21, 22, 24, 25, 27, 28]),
        (3, 20, range(3)),
        (3, 0, []),
        (0, 20, []),
    ],
)
def test_samples_are_evenly_spaced_in_order(total, count, chosen):
    texts = [[f"{side}{index}" for index in range(total)] for side in "srt"]
    lines = samples_table(*texts, count).splitlines()
    assert lines[:2] == ["| source | reference | translation |", "| --- | --- | --- |"]
    assert lines[2:] == [f"| s{index} | r{index} | t{index} |" for index in chosen]


def _page(folder, *, num_sentences):
    texts = [f"sentence {index}" for index in range(num_sentences)]
    _evaluation(sources=texts, references=texts, hypotheses=texts).save(folder)
    return _evaluation_section(folder, "test", saved_evaluations(folder, None)["test"])


def test_files_and_pages_say_how_their_samples_were_chosen(tmp_path):
    all_of_them = _page(tmp_path, num_sentences=20)
    assert "The first 20 sentences, in their order:\n\n| source |" in all_of_them
    assert (tmp_path / "test.samples.md").read_text().startswith("| source |")
    one = _page(tmp_path, num_sentences=1)
    assert "1 sentence, translated in" in one
    assert "The first sentence:\n\n| source |" in one
    chosen = "20 of 1,000 sentences, evenly spaced, from the first one on:\n\n| source |"
    some = _page(tmp_path, num_sentences=1000)
    assert chosen in some
    assert "The first" not in some
    assert "sentence 950 |" in some
    assert (tmp_path / "test.samples.md").read_text().startswith(chosen)


def test_samples_of_an_earlier_version_are_still_called_the_first(tmp_path):
    _page(tmp_path, num_sentences=1000)
    table = samples_table(["s1", "s2"], ["r1", "r2"], ["t1", "t2"])
    (tmp_path / "test.samples.md").write_text(table)
    page = _evaluation_section(tmp_path, "test", saved_evaluations(tmp_path, None)["test"])
    assert page.strip().endswith(f"The first 2 sentences, in their order:\n\n{table.strip()}")


@pytest.mark.parametrize(
    ("text", "cell"),
    [
        ("a|b", r"a\|b"),
        ("*a* _b_ `c` <d>", r"\*a\* \_b\_ \`c\` \<d\>"),
        ("a\u2028b\rc\nd", "a b c d"),
        ("\\|", r"\\\|"),
    ],
)
def test_sample_text_is_escaped_to_stay_in_its_cell(text, cell):
    assert samples_table([text], ["r"], ["t"]).splitlines()[2] == f"| {cell} | r | t |"


def test_text_scores_are_best_for_perfect_and_worst_for_wrong_output():
    references = ["The cat sat on the mat.", "Two dogs play in the snow."]
    names = ["BLEU", "chrF2", "length-ratio", "thesis-BLEU", "exact-match", "misclassification"]
    perfect = {score.name: score.value for score in text_scores(references, references, "en", 10)}
    assert perfect == pytest.approx(dict(zip(names, [100, 100, 1, 100, 1, 0], strict=True)))
    wrong = {score.name: score.value for score in text_scores(["q", "q"], references, "en", 10)}
    assert wrong["exact-match"] == wrong["thesis-BLEU"] == 0
    assert wrong["misclassification"] == 1
