"""What every family promises about searches in mixed precision."""

import numpy as np
import pytest

from bytenet.datasets import Vocabulary
from bytenet.decoding import Translator, beam_search
from bytenet.decoding.export.litert import litert_model
from bytenet.decoding.scoring import teacher_forced_log_probabilities
from bytenet.errors import InputError
from bytenet.models import Ensemble, build_model

from .cases import FAMILY_CASES, VOCAB_SIZE, draw_sentences, pad, parametrize
from .traced_model import traced

LENGTH = 6


@pytest.fixture
def in_mixed_precision(policy):
    """A function that makes the untrained model of a case, which computes in bfloat16."""

    def make(case):
        with policy("mixed_bfloat16"):
            return build_model(case.config, VOCAB_SIZE)

    return make


def test_members_of_an_ensemble_must_be_exact_to_become_a_lite_model(in_mixed_precision):
    ensemble = Ensemble([in_mixed_precision(FAMILY_CASES[0]) for _ in range(2)])
    with pytest.raises(InputError, match=r"in bfloat16\. Export each model of the ensemble"):
        litert_model(Translator(ensemble, Vocabulary("abcdefgh"), beam_size=1))


@parametrize(FAMILY_CASES)
def test_search_in_mixed_precision_gives_the_scores_of_the_exact_model(case, in_mixed_precision):
    exact = traced(case.config).model
    model = in_mixed_precision(case)
    model.set_weights(exact.get_weights())
    sources = pad(draw_sentences([6, 3, 5]))
    result, expected = (beam_search(one, sources, 3, LENGTH, n_best=1) for one in (model, exact))
    inputs = {"source_ids": sources, "target_ids": result.ids[:, 0]}
    scores = np.asarray(teacher_forced_log_probabilities(exact, inputs))
    np.testing.assert_allclose(result.log_probabilities[:, 0], scores, atol=0.05 * LENGTH)
    # Rounding may choose between two hypotheses that are about as likely, but not find a bad one.
    np.testing.assert_allclose(scores, expected.log_probabilities[:, 0], atol=0.05 * LENGTH)
