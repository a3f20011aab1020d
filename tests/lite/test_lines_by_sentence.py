"""Lines translated sentence by sentence."""

from itertools import chain, islice

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bytenet.lite.lines_by_sentence import LinesBySentence
from bytenet.lite.translation import Translation


def backwards(sentences):
    """Writes sentences backwards. A question has no end."""
    for sentence in sentences:
        yield [Translation(sentence[::-1], -1.0, -2.0, "?" not in sentence), Translation("other", -3.0, -3.0, True)]


@pytest.mark.parametrize(("language", "text"), [("fr", "[1] [2]"), ("zh", "[1][2]")])
def test_the_sentences_of_a_line_are_joined_as_the_target_language_does(language, text):
    def numbered(sentences):
        for number, _ in enumerate(sentences, start=1):
            yield [Translation(f"[{number}]", 0.0, 0.0, True)]

    [[line]] = LinesBySentence(("de", language)).translate(["Ja. Nein!"], numbered)
    assert line.text == text


def test_lines_stay_lines():
    by_sentence = LinesBySentence(("de", "en"))
    lines = ["Ja. Nein?", "", " \u200b ", " Gut "]
    [first], [second], [third], [fourth] = by_sentence.translate(lines, backwards)
    assert first == Translation(".aJ ?nieN", -2.0, -4.0, False)
    assert [second.text, third.text, fourth] == ["", "", Translation(" tuG ", -1.0, -2.0, True)]
    assert (by_sentence.num_with_several, by_sentence.num_with_long) == (1, 0)


def test_lines_with_several_sentences_and_with_long_ones_are_counted_apart():
    by_sentence = LinesBySentence(("de", "en"), max_chars=8)
    lines = ["Ja. Nein.", "ein langer Satz", "Ja. Ein langer Satz.", "noch ein langer", "kurz", ""]
    assert len(list(by_sentence.translate(lines, backwards))) == len(lines)
    assert (by_sentence.num_with_several, by_sentence.num_with_long) == (2, 3)


def test_watched_lines_are_counted_and_stay_as_they_are():
    by_sentence = LinesBySentence(("de", "en"), max_chars=8)
    lines = ["Ja. Nein.", "ein langer Satz", "", "kurz"]
    assert list(by_sentence.watch(lines)) == lines
    assert (by_sentence.num_with_several, by_sentence.num_with_long) == (1, 1)


def test_a_line_is_answered_before_the_next_one_is_read():
    read = []

    def lines():
        for line in ("Ja. Nein.", "", "Gut."):
            read.append(line)
            yield line

    answers = LinesBySentence(("de", "en")).translate(lines(), backwards)
    for number in (1, 2, 3):
        next(answers)
        assert len(read) == number


@given(lines=st.lists(st.text("aB. ?,\u200b")), max_chars=st.none() | st.integers(1, 9), window=st.integers(1, 5))
def test_every_line_has_an_answer_however_many_sentences_are_read_ahead(lines, max_chars, window):
    def in_windows(sentences):
        while chunk := list(islice(sentences, window)):
            yield from backwards(chunk)

    answers = [*LinesBySentence(("de", "en"), max_chars).translate(lines, in_windows)]
    alone = chain.from_iterable(LinesBySentence(("de", "en"), max_chars).translate([line], backwards) for line in lines)
    assert answers == [*alone]
    assert len(answers) == len(lines)
