"""The graphs of a translator: how many there are, which are compiled, and who shares them."""

import pytest

from bytenet.decoding import CompiledSearch, Translator

from .best_texts import best_texts as _texts
from .inputs import VOCABULARY


def test_lines_of_many_lengths_are_traced_in_few_shapes(model):
    lines = ["ab" * length for length in range(1, 33)] * 4  # up to 65 symbols
    assert len(list(Translator(model, VOCABULARY, beam_size=1, batch_size=8).translate(lines))) == 128
    assert model.traces == 3  # 32, 64 and 128 symbols


def test_threads_that_need_a_search_at_the_same_time_share_it(model, monkeypatch):
    translator, of_other_thread = Translator(model, VOCABULARY, beam_size=2), []

    class SlowSearch(CompiledSearch):
        """While the first one is made, another thread needs it, too."""

        def __init__(self, *arguments, **others):
            super().__init__(*arguments, **others)
            if not of_other_thread:
                of_other_thread.append(None)
                of_other_thread[0] = translator.batch_search.search()

    monkeypatch.setattr("bytenet.decoding.batches.batch_search.CompiledSearch", SlowSearch)
    assert translator.batch_search.search() is of_other_thread[0]


def test_shape_is_compiled_when_it_has_enough_work(model, monkeypatch):
    compiled = []

    class RecordingSearch(CompiledSearch):
        """Records what would be compiled, and compiles nothing."""

        def __init__(self, *arguments, jit_compile, **others):
            self.was_asked_to_compile = jit_compile
            super().__init__(*arguments, jit_compile=False, **others)

        def __call__(self, source_ids, *arguments):
            compiled.append((source_ids.shape[1], self.was_asked_to_compile))
            return super().__call__(source_ids, *arguments)

    monkeypatch.setattr("bytenet.decoding.batches.batch_search.CompiledSearch", RecordingSearch)
    # One row of one beam. Lines have 21 and 51 symbols and 4 more to write. A step counts 26: 650 and 1430 per line.
    monkeypatch.setattr("bytenet.decoding.batches.compilation_choice._WORK_THAT_PAYS", 1900)
    lines = ["ab" * 10, "ab" * 25] * 4
    translator = Translator(model, VOCABULARY, beam_size=1, batch_size=1)
    one_by_one = list(translator.translate(lines, window=1))
    expected = [(32, False), (64, False), (32, False), (64, True), (32, True), (64, True), (32, True), (64, True)]
    assert compiled == expected

    compiled.clear()
    at_once = list(Translator(model, VOCABULARY, beam_size=1, batch_size=1).translate(lines))
    assert compiled == [(32, True)] * 4 + [(64, True)] * 4
    assert _texts(at_once) == _texts(one_by_one)
    for jit_compile in (False, True):
        compiled.clear()
        list(Translator(model, VOCABULARY, 1, jit_compile=jit_compile).translate(lines[:1]))
        assert compiled == [(32, jit_compile)]
    with pytest.raises(ValueError, match=r"jit_compile.*always"):
        Translator(model, VOCABULARY, jit_compile="always")


def test_no_line_needs_another_graph_than_those_that_were_made_in_advance(recurrent_model, monkeypatch):
    traced = []

    def trace(search, *shape):
        traced.append(shape)
        return original(search, *shape)

    original = CompiledSearch._trace
    monkeypatch.setattr(CompiledSearch, "_trace", trace)
    translator = Translator(recurrent_model(VOCABULARY.size), VOCABULARY, beam_size=2, batch_size=4, row_factor=4)
    translator.make_graphs(longest=40)
    limits = {length: translator.batch_search.limit(length) for length in (32, 64)}
    assert sorted(traced) == [(rows, length, limits[length]) for rows in (1, 4) for length in (32, 64)]
    for num_lines in (1, 2, 3, 4):
        for length in (1, 31, 32, 39):
            list(translator.translate(["a" * length] * num_lines))
    assert len(traced) == 4
    list(translator.translate(["a" * 64]))
    assert len(traced) == 5
