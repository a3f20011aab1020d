"""Many clients at once: each gets the translation of its own text."""

from urllib.parse import urlsplit

from bytenet.profiling.benchmarks.serving.clients import ask


def test_the_answer_to_each_of_many_texts_is_its_own(serving, reversing_engine):
    engine = reversing_engine(batch_size=32)
    texts = [f"text {'x' * (number % 50)} {number}" for number in range(2000)]
    with serving(engine) as address:
        load = ask(urlsplit(address).port, {text: text[::-1] for text in texts}, ("de", "en"), clients=32)
    assert (load.statuses, load.wrong, load.texts) == ({200: 2000}, 0, 2000)
    assert max(map(len, engine.batches)) > 1


def test_wrong_answers_and_refusals_are_counted(serving, reversing_engine):
    with serving(reversing_engine(), max_chars=3) as address:
        expected = {"abc": "cba", "abd": "wrong", "long": "gnol"}
        load = ask(urlsplit(address).port, expected, ("de", "en"), clients=1)
    assert (load.statuses, load.wrong, load.texts) == ({200: 2, 413: 1}, 1, 2)
