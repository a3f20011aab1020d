"""Hypotheses reranked by a model of the other direction."""

from dataclasses import replace

import pytest

from bytenet.config import load_config
from bytenet.datasets import Vocabulary
from bytenet.decoding import Sampling, Translator
from bytenet.decoding.export import export
from bytenet.decoding.scoring import PairScorer
from bytenet.errors import InputError
from bytenet.lite.length_penalty import length_penalty_divisor
from bytenet.lite.reranking import Reranker
from bytenet.lite.translation import Translation
from bytenet.models import build_model
from bytenet.run_folder import RunFolder
from bytenet.saved.keras_model import save_model

from .inputs import LINES, SMALL, VOCABULARY

BACKWARD_VOCABULARY = Vocabulary("edcba ")


@pytest.fixture
def backward_model(recurrent_model):
    return recurrent_model(BACKWARD_VOCABULARY.size, seed=5)


def reranker_with(model, vocabulary=BACKWARD_VOCABULARY, weight=1.0, batch_size=32):
    return Reranker(PairScorer(model, vocabulary, batch_size), weight, 0.6, "gnmt", "backward")


def ranked(model, reranker=None, n_best=4, lines=LINES, beam_size=4):
    return list(Translator(model, VOCABULARY, beam_size=beam_size, reranker=reranker).translate(lines, n_best))


def test_the_score_gains_the_probability_of_the_source(model, backward_model):
    reranker = reranker_with(backward_model, weight=0.7)
    scorer = PairScorer(backward_model, BACKWARD_VOCABULARY)
    order_changes = 0
    for line, before, after in zip(LINES, ranked(model), ranked(model, reranker), strict=True):
        assert {one.text for one in before} == {one.text for one in after}
        scores = {one.text: one.score for one in before}
        for one in after if line.strip() else ():
            back = scorer([one.text], [line])
            divisor = length_penalty_divisor(back.num_characters[0], 0.6, "gnmt")
            expected = scores[one.text] + 0.7 * back.log_probabilities[0] / divisor
            assert one.score == pytest.approx(expected, abs=1e-4)
        keys = [(one.text != "", one.ended, one.score) for one in after]
        assert keys == sorted(keys, reverse=True)
        order_changes += [one.text for one in before] != [one.text for one in after]
    assert order_changes > 0


def test_blank_lines_stay_as_they_are(model, backward_model):
    reranker = reranker_with(backward_model)
    for blank in (LINES.index(""), LINES.index("   ")):
        assert ranked(model, reranker)[blank] == ranked(model)[blank]
    assert ranked(model, reranker, lines=["", "   "]) == ranked(model, lines=["", "   "])


def test_all_hypotheses_of_the_beam_are_ranked_whatever_the_number_that_is_returned(model, backward_model):
    reranker = reranker_with(backward_model)
    many, one = ranked(model, reranker, n_best=4), ranked(model, reranker, n_best=1)
    assert [hypotheses[0] for hypotheses in many] == [hypotheses[0] for hypotheses in one]
    assert {len(hypotheses) for hypotheses in one} == {1}


def test_a_line_that_is_too_long_for_the_model_keeps_its_order(model, backward_model):
    backward_model.length_policy = replace(backward_model.length_policy, longest=12)
    reranker = reranker_with(backward_model)
    long = LINES.index(max(LINES, key=len))
    before, after = ranked(model), ranked(model, reranker)
    assert after[long] == before[long]
    assert after[0] != before[0]


def test_no_graph_is_made_after_make_graphs(model, backward_model):
    reranker = reranker_with(backward_model, batch_size=4)
    translator = Translator(model, VOCABULARY, beam_size=4, batch_size=4, reranker=reranker)
    longest = max(len(VOCABULARY.encode(line)) for line in LINES)
    translator.make_graphs(longest)
    traces = model.traces, backward_model.traces
    assert min(traces) > 0
    list(translator.translate(LINES))
    assert (model.traces, backward_model.traces) == traces


def test_one_hypothesis_cannot_be_ranked(model, backward_model):
    reranker = reranker_with(backward_model)
    for search in ({"beam_size": 1}, {"sampling": Sampling(samples=1)}):
        with pytest.raises(InputError, match=r"--beam-size .* or --samples .* to 2 or more"):
            Translator(model, VOCABULARY, **search, reranker=reranker)


def test_samples_are_reranked(model, backward_model):
    reranker = reranker_with(backward_model)
    before, after = (
        list(Translator(model, VOCABULARY, sampling=Sampling(samples=6), reranker=one).translate(LINES, 6))
        for one in (None, reranker)
    )
    assert [sorted(one.text for one in row) for row in before] == [sorted(one.text for one in row) for row in after]
    assert [row[0].text for row in before] != [row[0].text for row in after]


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    """Runs of both directions, whose models are not trained."""
    folder = tmp_path_factory.mktemp("runs")
    for name, is_reversed in (("forward", "false"), ("backward", "true")):
        config = load_config("numbers", [*SMALL, f"data.reversed={is_reversed}"])
        run = RunFolder.create(folder / name, config, VOCABULARY)
        save_model(build_model(config.model, VOCABULARY.size), run.model_path)
    return folder


def test_a_run_names_the_model_of_the_other_direction(runs):
    options = {"beam_size": 3, "rerank_with": str(runs / "backward")}
    [plain] = Translator.from_run(runs / "forward", beam_size=3).translate(["abba"])
    [better] = Translator.from_run(runs / "forward", **options).translate(["abba"])
    [turned_off] = Translator.from_run(runs / "forward", **options, rerank_weight=0).translate(["abba"])
    assert better[0].score < plain[0].score
    assert turned_off == plain


def test_a_model_of_the_same_direction_is_refused(runs):
    with pytest.raises(InputError, match=r"^rerank_with: .* expected a model from en to de"):
        Translator.from_run(runs / "forward", beam_size=3, rerank_with=str(runs / "forward"))


@pytest.mark.parametrize("name", ["saved-model", "model.tflite", "model.bytenet"])
def test_an_export_has_no_reranker(name, runs, tmp_path):
    translator = Translator.from_run(runs / "forward", beam_size=3, rerank_with=str(runs / "backward"))
    with pytest.raises(InputError, match="--rerank-weight 0"):
        export(translator, tmp_path / name)
    assert not list(tmp_path.iterdir())


def test_a_line_with_a_character_that_the_other_model_refuses_keeps_its_order(recurrent_model):
    refusing = Vocabulary("abcde", unknown="error")  # no space
    reranker = reranker_with(recurrent_model(refusing.size, seed=5), refusing)
    given = [Translation("cd", -1.0, -1.0, True), Translation("de", -2.0, -2.0, True)]
    fits, refused, also_refused = reranker(["ab", "a b", "ab"], [given, given, [given[0], given[1]._replace(text=" ")]])
    assert refused == given
    assert [one.score for one in also_refused] == [-1.0, -2.0]
    assert {one.score for one in fits} & {-1.0, -2.0} == set()
