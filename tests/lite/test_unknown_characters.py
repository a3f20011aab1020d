"""The characters that a model does not know are counted and named."""

import pytest

from bytenet.lite.unknown_characters import UnknownCharacters


@pytest.mark.parametrize(
    ("lines", "num_lines", "message"),
    [
        (["Ein", "", "\u200b", "\tEin\n", "E\u0308in"], 0, ""),
        (["漢字"], 1, "'漢' (U+6F22) and '字' (U+5B57)"),
        (["Ein\u202e", "E", "☃"], 2, r"'\u202e' (U+202E) and '☃' (U+2603)"),
        (["abcdd"], 1, "'a' (U+0061), 'b' (U+0062), 'c' (U+0063) and 1 other"),
        (["dcba", "e"], 2, "'d' (U+0064), 'c' (U+0063), 'b' (U+0062) and 2 others"),
    ],
)
def test_unknown_characters_are_counted_and_shown_as_the_model_reads_lines(lines, num_lines, message):
    unknown = UnknownCharacters(frozenset("EËin"))
    assert list(unknown.watch(lines)) == lines
    assert (unknown.num_lines, str(unknown)) == (num_lines, message)
    assert bool(unknown.message) is bool(message)
    assert message in unknown.message


def test_white_space_that_the_model_reads_as_a_blank_is_known():
    unknown = UnknownCharacters(frozenset("Ein "))
    assert list(unknown.watch(["Ein\u2028Ei", "Ein\tEi\x85☃"])) == ["Ein\u2028Ei", "Ein\tEi\x85☃"]
    assert (unknown.num_lines, str(unknown)) == (1, "'☃' (U+2603)")
