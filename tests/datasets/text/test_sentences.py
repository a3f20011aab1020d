"""Texts are split into sentences and put together again."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bytenet.datasets.text.characters import is_blank
from bytenet.datasets.text.sentences import join_pieces, split_text


def sentences(text, language="de", **options):
    return [piece.text for piece in split_text(text, language, **options) if piece.is_sentence]


def test_sentences_of_a_line_follow_the_rules_of_the_language():
    text = "Dr. Müller kommt am 3. Mai.  Er sagt: „Ja!“\n\nZweite Zeile"
    assert sentences(text) == ["Dr. Müller kommt am 3. Mai.", "Er sagt: „Ja!“", "Zweite Zeile"]


def test_a_line_may_stay_whole():
    assert sentences(" Ja. Nein.\nGut. ", into_sentences=False) == ["Ja. Nein.", "Gut."]


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("eins, zwei drei vier", ["eins,", "zwei drei", "vier"]),
        ("ja, zwei drei vier", ["ja, zwei", "drei vier"]),
        ("einszweidreivier", ["einszweidr", "eivier"]),
        ("(eins) zwei (drei)", ["(eins)", "zwei", "(drei)"]),
        ("1234567890 12345678", ["1234567890", "12345678"]),
    ],
)
def test_a_long_sentence_is_split_at_clauses_then_words_then_anywhere(text, parts):
    assert sentences(text, max_chars=10) == parts


@given(
    text=st.text(st.sampled_from(list("aB. ,!?\n\r\t\u200b\u2028。ä")) | st.characters(exclude_categories=["Cs"])),
    language=st.sampled_from(["de", "en", "ja", "xx"]),
    max_chars=st.none() | st.integers(1, 12),
    into_sentences=st.booleans(),
)
def test_pieces_are_the_whole_text_and_sentences_have_no_line_end(text, language, max_chars, into_sentences):
    pieces = split_text(text, language, max_chars, into_sentences)
    assert "".join(piece.text for piece in pieces) == text
    for piece in pieces:
        if piece.is_sentence:
            assert not is_blank(piece.text)
            assert piece.text == piece.text.strip()
            assert "\n" not in piece.text
            assert max_chars is None or len(piece.text) <= max_chars
    assert join_pieces(pieces, ["X"] * sum(piece.is_sentence for piece in pieces)).count("\n") == text.count("\n")
