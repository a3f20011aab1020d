"""Texts are split into sentences and put together again."""

import logging
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bytenet.errors import InputError
from bytenet.lite.sentences import join_pieces, max_sentence_chars, split_text, splits_lines
from bytenet.lite.white_space import is_blank


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
        ("他昨天去了北京，我今天来了", ["他昨天去了北京，", "我今天来了"]),
        ("一二三四五六七八九十，甲乙丙", ["一二三四五六七八九十", "，甲乙丙"]),
    ],
)
def test_a_long_sentence_is_split_at_clauses_then_words_then_anywhere(text, parts):
    assert sentences(text, max_chars=10) == parts


@pytest.mark.parametrize("blank", ["\u00a0", "\u2009", "\u2028", "\u3000"])
def test_a_capital_letter_before_any_blank_and_a_full_stop_is_no_failure(blank):
    """sentencex fails for such a text."""
    assert sentences(f"Ja.{blank}Nein, Klasse A{blank}.") == ["Ja.", f"Nein, Klasse A{blank}."]


def test_half_of_a_surrogate_pair_stays_in_its_sentence():
    """sentencex reads only whole characters."""
    assert sentences("Ja\ud800. Nein, \udfff!") == ["Ja\ud800.", "Nein, \udfff!"]


def test_a_line_that_sentencex_cannot_split_stays_whole(monkeypatch):
    class PanicException(BaseException):
        """What a failure of Rust code is for Python."""

    def fail(language, line):
        raise error

    monkeypatch.setattr("sentencex.segment", fail)
    error = PanicException()
    assert sentences(" Ja. Nein.\nGut. ") == ["Ja. Nein.", "Gut."]
    error = KeyboardInterrupt()
    with pytest.raises(KeyboardInterrupt):
        sentences("Ja.")


def test_text_is_split_as_the_model_reads_it():
    """A decomposed umlaut is one character, and no mark is cut from its letter."""
    umlauts = unicodedata.normalize("NFD", "ä" * 10)
    assert len(umlauts) == 20
    assert sentences(umlauts, max_chars=10) == ["ä" * 10]
    assert sentences("q\u0308" * 4, max_chars=3) == ["q\u0308"] * 4


def test_a_long_run_of_marks_does_not_make_a_sentence_of_each():
    parts = sentences("q" + "\u0308" * 999, max_chars=100)
    assert len(parts) <= 12
    assert max(map(len, parts)) <= 100


@given(
    # A list, because `st.text` would seldom draw these characters among all others.
    text=st.lists(st.sampled_from("aB. ,!?\n\r\t\u200b\u2028。，ä\udc80") | st.characters()).map("".join),
    language=st.sampled_from(["de", "en", "ja", "xx"]),
    max_chars=st.none() | st.integers(1, 12),
    into_sentences=st.booleans(),
)
def test_pieces_are_the_whole_text_and_sentences_have_no_line_end(text, language, max_chars, into_sentences):
    pieces = split_text(text, language, max_chars, into_sentences)
    assert "".join(piece.text for piece in pieces) == unicodedata.normalize("NFC", text)
    for piece in pieces:
        if piece.is_sentence:
            assert not is_blank(piece.text)
            assert piece.text == piece.text.strip()
            assert "\n" not in piece.text
            assert max_chars is None or len(piece.text) <= max_chars
    translations = ["X"] * sum(piece.is_sentence for piece in pieces)
    assert join_pieces(pieces, translations, (language, "en")).count("\n") == text.count("\n")


@pytest.mark.parametrize(
    ("text", "languages", "joined"),
    [
        ("他昨天去了北京。我今天来了！\n你好吗？", ("zh", "en"), "[1] [2]\n[3]"),
        ("他昨天去了北京。我今天来了！\n你好吗？", ("zh-CN", "ja"), "[1][2]\n[3]"),
        (" Ja. Nein!\n Gut.", ("de", "zh"), " [1][2]\n [3]"),
        ("Ja.  Nein!\n Gut.", ("de", "fr"), "[1]  [2]\n [3]"),
    ],
)
def test_blanks_between_sentences_are_those_of_the_target_language(text, languages, joined):
    assert join_pieces(split_text(text, languages[0]), ["[1]", "[2]", "[3]"], languages) == joined


def test_the_region_of_a_language_is_ignored():
    for code in ("de", "de-AT", "de_DE", "DE"):
        assert sentences("Dr. Müller, geb. am 3. Mai 1990. Ja.", code) == ["Dr. Müller, geb. am 3. Mai 1990.", "Ja."]


def test_the_longest_sentence_is_that_of_the_training_or_of_the_model():
    assert [max_sentence_chars(40, longest) for longest in (None, 100, 30)] == [40, 40, 29]


def test_a_sentence_has_at_least_one_character_for_a_model_that_reads_only_the_end_symbol():
    """Without any, no text would ever be split up."""
    assert max_sentence_chars(40, 1) == 1


def test_lines_with_one_translation_are_split_unless_the_user_says_otherwise():
    assert [splits_lines(None, n_best) for n_best in (1, 2)] == [True, False]
    assert [splits_lines(wish, 1) for wish in (True, False)] == [True, False]
    with pytest.raises(ValueError, match="n_best is 2, but a line that is split into sentences has one translation"):
        splits_lines(True, 2)


def test_without_the_library_lines_stay_whole_and_one_warning_says_what_to_install(without_sentencex, caplog):
    with caplog.at_level(logging.WARNING):
        assert [splits_lines(None, 1), splits_lines(None, 1), splits_lines(False, 1)] == [False] * 3
    [record] = caplog.records
    assert "Lines are translated whole" in record.message
    assert "pip install sentencex" in record.message
    assert sentences("Ja. Nein.", into_sentences=False) == ["Ja. Nein."]


def test_who_asks_for_sentences_without_the_library_gets_an_error(without_sentencex):
    assert splits_lines(True, 1)
    with pytest.raises(InputError, match=r"needs the library sentencex .*: pip install sentencex\.$"):
        split_text("Ja.", "de")
