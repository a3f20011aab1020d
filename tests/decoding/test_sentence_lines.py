"""Lines that are translated sentence by sentence."""

import pytest

from bytenet.config import DataConfig
from bytenet.decoding import Translator

from .inputs import VOCABULARY


def test_lines_are_translated_sentence_by_sentence_if_their_language_is_known(model):
    text, parts = "abba. A bad cab. ", ["abba.", "A bad cab."]
    data = DataConfig(source_language="de", target_language="en", max_length=20)
    knowing, unknowing = (Translator(model, VOCABULARY, beam_size=2, data=given) for given in (data, None))
    first, second = (best for [best] in unknowing.translate(parts))
    [[whole]] = unknowing.translate([text])
    [[split]] = knowing.translate([text])
    assert split.text == f"{first.text} {second.text} "
    assert split.log_probability == first.log_probability + second.log_probability
    assert [*knowing.translate([text], split_sentences=True)] == [[split]]
    assert whole != split
    for arguments in ({"split_sentences": False}, {"n_best": 2}, {"pair_lengths": [len(text) + 1]}):
        [[best, *_]] = knowing.translate([text], **arguments)
        assert best == whole


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"n_best": 2}, "a line that is split into sentences has one translation"),
        ({"pair_lengths": [5]}, "pair_lengths are lengths of whole lines"),
        ({}, "needs to know their language"),
    ],
)
def test_lines_cannot_be_split_in_every_call(arguments, message, model):
    with pytest.raises(ValueError, match=message):
        list(Translator(model, VOCABULARY, beam_size=2).translate(["abba"], split_sentences=True, **arguments))
