"""Models, vocabularies, options and lines that a translator refuses."""

import numpy as np
import pytest

from bytenet.config.families.transformer import TransformerConfig
from bytenet.datasets import Vocabulary
from bytenet.decoding import Translator
from bytenet.decoding.scoring import PairScorer
from bytenet.decoding.searches.sampling import Sampling
from bytenet.errors import InputError, ModelError
from bytenet.lite.translation import BLANK
from bytenet.models import build_model

from .inputs import VOCABULARY


@pytest.mark.parametrize("search", [{"beam_size": 1}, {"beam_size": 2}, {"sampling": Sampling(samples=2)}])
def test_a_model_that_gives_no_finite_probability_is_named_as_the_fault(model, search):
    model.symbol_bias[:] = np.nan
    with pytest.raises(ModelError, match="gives no translation a finite probability"):
        list(Translator(model, VOCABULARY, **search).translate(["abba"]))


@pytest.mark.parametrize("size_of_model", [VOCABULARY.size - 1, VOCABULARY.size + 1])
@pytest.mark.parametrize("kind", [Translator, PairScorer])
def test_vocabulary_of_another_size_than_the_models_is_refused(recurrent_model, kind, size_of_model):
    message = f"The vocabulary has {VOCABULARY.size} symbols, but the model has {size_of_model}"
    with pytest.raises(ValueError, match=message):
        kind(recurrent_model(size_of_model), VOCABULARY)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"batch_size": 0}, "batch_size is 0, but should be greater than or equal to 1"),
        ({"row_factor": 1}, "row_factor is 1; expected 2 or more"),
        ({"length_penalty_rule": "gmnt"}, "length_penalty_rule is 'gmnt', but should be 'gnmt' or 'length'"),
        ({"coverage_penalty": -1.0}, "coverage_penalty is -1.0, but should be greater than or equal to 0"),
        ({"beam_size": 1, "length_penalty": -1.0}, "length_penalty is -1.0, but"),
        ({"min_length": 9, "max_length": 4}, "min_length 9 is more than max_length 4"),
    ],
)
def test_options_of_a_search_are_checked(arguments, message, model):
    with pytest.raises(ValueError, match=message):
        list(Translator(model, VOCABULARY, **{"beam_size": 2} | arguments).translate(["abba"]))


def test_window_has_a_sentence(model):
    with pytest.raises(ValueError, match="window is -1; expected 1 or more"):
        list(Translator(model, VOCABULARY, beam_size=1).translate(["abba"], window=-1))


@pytest.mark.parametrize(("lengths", "found"), [([9], "2 lines or more, but 1"), ([9] * 4, "3 lines, but 4")])
@pytest.mark.parametrize("window", [1, 2, 8])
def test_each_line_has_one_pair_length(lengths, found, window, model):
    lines = iter(["abba", "dad", "a"])
    with pytest.raises(ValueError, match=rf"^Found {found} pair_lengths; expected one for each line\.$"):
        list(Translator(model, VOCABULARY, beam_size=1).translate(lines, window=window, pair_lengths=lengths))


def test_unknown_character_is_named_if_the_vocabulary_refuses_it(recurrent_model):
    vocabulary = Vocabulary("abc", unknown="error")
    translator = Translator(recurrent_model(vocabulary.size), vocabulary)
    with pytest.raises(InputError, match="U\\+007A"):
        list(translator.translate(["abz"]))
    assert list(translator.translate(["\t", " \u200b"])) == [[BLANK], [BLANK]]


def test_line_that_is_too_long_is_named():
    sizes = {"dim": 4, "heads": 1, "encoder_layers": 1, "decoder_layers": 1}
    model = build_model(TransformerConfig(positions="learned", max_positions=8, **sizes), VOCABULARY.size)
    translations = Translator(model, VOCABULARY, beam_size=1, jit_compile=False).translate(
        ["a", "", "abc " * 9], window=2
    )
    assert len([next(translations) for _ in range(2)]) == 2
    with pytest.raises(InputError, match=r"^Line 3 \('abc abc .*\) has 37 symbols with .* reads at most 8\. Split it"):
        next(translations)
