"""Sentences of all requests are translated in batches by a few threads."""

import threading

import pytest

from bytenet.errors import InputError
from bytenet.serving.engines.engine import Candidate
from bytenet.serving.work.translating_threads import QueueFullError, TranslatingThreads

PATIENCE_SECONDS = 60


def texts(future):
    return [candidates[0].text for candidates in future.result(PATIENCE_SECONDS)]


@pytest.fixture
def held_up(reversing_engine, thread):
    """An engine that translates a first sentence until the test opens its gate."""
    engine = reversing_engine()
    engine.gate.clear()
    thread.translate(engine, ["first"])
    assert engine.started.wait(PATIENCE_SECONDS)
    yield engine
    engine.gate.set()


def test_each_sentence_gets_its_candidates_in_order(reversing_engine, thread):
    future = thread.translate(reversing_engine(), ["abc", "de"], 2)
    assert future.result(PATIENCE_SECONDS) == [
        [Candidate("cba", 0.0), Candidate("cba'", -1.0)],
        [Candidate("ed", 0.0), Candidate("ed'", -1.0)],
    ]


def test_no_sentences_give_no_candidates(reversing_engine, thread):
    assert thread.translate(reversing_engine(), []).result(PATIENCE_SECONDS) == []
    assert thread.num_unfinished == 0


def test_what_waits_while_a_batch_is_translated_makes_the_next_batch(held_up, thread):
    futures = [thread.translate(held_up, [sentence]) for sentence in ("a", "b", "c")]
    held_up.gate.set()
    assert [texts(future) for future in futures] == [["a"], ["b"], ["c"]]
    assert held_up.batches == [["first"], ["a", "b", "c"]]


def test_a_batch_has_sentences_of_similar_length_and_the_same_number_of_candidates(held_up, thread):
    long = "x" * 40
    futures = [thread.translate(held_up, *arguments) for arguments in ((["a", long],), (["b"], 3), (["c"],), ([long],))]
    held_up.gate.set()
    for future in futures:
        future.result(PATIENCE_SECONDS)
    assert held_up.batches[1:] == [["a", "c"], ["b"], [long, long]]


def test_engines_do_not_share_a_batch(held_up, reversing_engine, thread):
    other = reversing_engine("fr", "en")
    futures = [thread.translate(engine, ["a"]) for engine in (held_up, other, held_up)]
    held_up.gate.set()
    for future in futures:
        future.result(PATIENCE_SECONDS)
    assert held_up.batches == [["first"], ["a", "a"]]
    assert other.batches == [["a"]]


def test_a_long_text_takes_turns_with_others(held_up, thread):
    long_text = thread.translate(held_up, list("abcdefghij"))
    short_text = thread.translate(held_up, ["z"])
    held_up.gate.set()
    assert texts(long_text) == list("abcdefghij")
    assert texts(short_text) == ["z"]
    assert held_up.batches[1:3] == [list("abcd"), ["z", "e", "f", "g"]]


def test_a_bad_sentence_fails_alone(held_up, thread):
    futures = [thread.translate(held_up, [sentence]) for sentence in ("a", "☠", "💥", "b")]
    held_up.gate.set()
    assert texts(futures[0]) == ["a"]
    assert texts(futures[3]) == ["b"]
    with pytest.raises(InputError, match="skull"):
        futures[1].result(PATIENCE_SECONDS)
    with pytest.raises(RuntimeError):
        futures[2].result(PATIENCE_SECONDS)
    assert texts(thread.translate(held_up, ["later"])) == ["retal"]


def test_a_request_with_a_bad_sentence_is_translated_no_further(held_up, thread):
    bad, good = thread.translate(held_up, ["☠", "a"]), thread.translate(held_up, ["b"])
    held_up.gate.set()
    assert texts(good) == ["b"]
    with pytest.raises(InputError, match="skull"):
        bad.result(PATIENCE_SECONDS)
    assert held_up.batches == [["first"], ["☠", "a", "b"], ["☠"], ["b"]]


def test_a_batch_with_a_bad_sentence_is_counted_once(reversing_engine):
    counted = []
    threads = TranslatingThreads(max_requests=8, on_batch=lambda batch: counted.append(batch.sentences))
    with pytest.raises(InputError, match="skull"):
        threads.translate(reversing_engine(), ["a", "☠"]).result(PATIENCE_SECONDS)
    threads.close()
    assert counted == [["a", "☠"]]


@pytest.mark.parametrize(("sentence", "is_logged"), [("☠", False), ("💥", True), ("💔", True)])
def test_the_log_has_failures_of_the_server_alone(reversing_engine, thread, caplog, sentence, is_logged):
    engine = reversing_engine()
    for future in (thread.translate(engine, [sentence]), thread.call(lambda: engine.translate([sentence], 1))):
        assert future.exception(PATIENCE_SECONDS) is not None
    assert len(caplog.records) == (2 if is_logged else 0)


def test_a_wrong_engine_does_not_end_the_thread(reversing_engine, thread):
    wrong = reversing_engine()
    wrong.translate = lambda sentences, num_candidates: []
    with pytest.raises(ValueError, match="shorter"):
        thread.translate(wrong, ["a"]).result(PATIENCE_SECONDS)
    assert texts(thread.translate(reversing_engine(), ["ab"])) == ["ba"]
    assert thread.is_running


def test_a_cancelled_request_frees_its_place_and_is_not_translated(held_up, thread):
    futures = [thread.translate(held_up, [f"request {number}"]) for number in range(7)]
    with pytest.raises(QueueFullError):
        thread.translate(held_up, ["too much"])
    with pytest.raises(QueueFullError):
        thread.call(lambda: None)
    assert futures[3].cancel()
    last = thread.translate(held_up, ["last"])
    held_up.gate.set()
    assert texts(last) == ["tsal"]
    for future in futures[:3] + futures[4:]:
        future.result(PATIENCE_SECONDS)
    assert not any("request 3" in batch for batch in held_up.batches)


def test_all_calls_that_wait_run_before_the_next_batch(held_up, thread):
    order = []
    futures = [thread.translate(held_up, list(sentences)) for sentences in ("abcd", "efgh")]  # two batches
    calls = [thread.call(lambda: order.append(len(held_up.batches))) for _ in range(3)]
    held_up.gate.set()
    for future in futures + calls:
        future.result(PATIENCE_SECONDS)
    assert order == [1, 1, 1]


def test_a_cancelled_call_is_not_made_and_errors_arrive(held_up, thread):
    made = []
    cancelled = thread.call(lambda: made.append(1))
    failing = thread.call(lambda: 1 / 0)
    assert cancelled.cancel()
    held_up.gate.set()
    with pytest.raises(ZeroDivisionError):
        failing.result(PATIENCE_SECONDS)
    assert not made


@pytest.mark.parametrize(("waiting", "sizes"), [(7, [1, 4, 3]), (6, [1, 4, 1, 1])])
def test_a_batch_is_not_padded_much(held_up, thread, waiting, sizes):
    """With 3 of 4 sentences it is padded, with 2 of 4 it is not."""
    held_up.batch_sizes = (1, 4, 16)
    futures = [thread.translate(held_up, [str(number)]) for number in range(waiting)]
    held_up.gate.set()
    for future in futures:
        future.result(PATIENCE_SECONDS)
    assert [len(batch) for batch in held_up.batches] == sizes


def test_each_thread_translates_a_batch_at_the_same_time(reversing_engine):
    """The first batch ends only after the second one has begun."""
    threads, slow, quick = TranslatingThreads(max_requests=8, num_threads=2), reversing_engine(), reversing_engine()
    slow.gate.clear()
    first = threads.translate(slow, ["abc"])
    assert slow.started.wait(PATIENCE_SECONDS)
    assert texts(threads.translate(quick, ["de"])) == ["ed"]
    assert not first.done()
    slow.gate.set()
    assert texts(first) == ["cba"]
    threads.close()


def test_the_sentences_of_one_text_use_all_threads(reversing_engine):
    threads, engine = TranslatingThreads(max_requests=8, num_threads=3), reversing_engine(batch_size=1)
    together = threading.Barrier(3)
    translate = engine.translate

    def translate_together(sentences, num_candidates):
        together.wait(PATIENCE_SECONDS)
        return translate(sentences, num_candidates)

    engine.translate = translate_together
    assert texts(threads.translate(engine, ["ab", "cd", "ef"])) == ["ba", "dc", "fe"]
    threads.close()


def test_closing_finishes_what_waits(reversing_engine):
    thread, engine = TranslatingThreads(max_requests=8), reversing_engine()
    futures = [thread.translate(engine, [str(number)]) for number in range(8)]
    thread.close()
    assert [texts(future) for future in futures] == [[str(number)] for number in range(8)]


def test_calls_that_nobody_waits_for_take_no_turns(held_up, thread):
    left = [thread.call(lambda: None) for _ in range(3)]
    waiting = thread.call(lambda: list(held_up.batches))
    long_text = thread.translate(held_up, list("abcdefghijkl"))
    for future in left:
        assert future.cancel()
    held_up.gate.set()
    assert waiting.result(PATIENCE_SECONDS) == [["first"]]
    assert texts(long_text) == list("abcdefghijkl")


def test_nothing_is_kept_of_finished_requests(reversing_engine, thread):
    engine = reversing_engine()
    for _ in range(20):
        thread.translate(engine, ["a", "b"]).result(PATIENCE_SECONDS)
        thread.call(lambda: None).result(PATIENCE_SECONDS)
    assert thread.call(lambda: thread.num_unfinished).result(PATIENCE_SECONDS) == 1
    assert not thread._jobs


def test_closed_threads_take_no_work(reversing_engine, thread):
    thread.close()
    for ask in (lambda: thread.translate(reversing_engine(), ["a"]), lambda: thread.call(lambda: None)):
        with pytest.raises(RuntimeError, match="threads are closed"):
            ask()
    assert thread.num_unfinished == 0
