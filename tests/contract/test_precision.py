"""What every family promises about searches in mixed precision."""

import keras
import numpy as np

from bytenet.decoding import beam_search
from bytenet.decoding.scoring import teacher_forced_log_probabilities
from bytenet.models import build_model

from .cases import FAMILY_CASES, VOCAB_SIZE, draw_sentences, pad, parametrize
from .traced_model import traced

LENGTH = 6


@parametrize(FAMILY_CASES)
def test_search_in_mixed_precision_gives_the_scores_of_the_exact_model(case):
    exact = traced(case.config).model
    keras.mixed_precision.set_global_policy("mixed_bfloat16")
    try:
        model = build_model(case.config, VOCAB_SIZE)
    finally:
        keras.mixed_precision.set_global_policy("float32")
    model.set_weights(exact.get_weights())
    sources = pad(draw_sentences([6, 3, 5]))
    result, expected = (beam_search(one, sources, 3, LENGTH, n_best=1) for one in (model, exact))
    inputs = {"source_ids": sources, "target_ids": result.ids[:, 0]}
    scores = np.asarray(teacher_forced_log_probabilities(exact, inputs))
    np.testing.assert_allclose(result.log_probabilities[:, 0], scores, atol=0.05 * LENGTH)
    # Rounding may choose between two hypotheses that are about as likely, but not find a bad one.
    np.testing.assert_allclose(scores, expected.log_probabilities[:, 0], atol=0.05 * LENGTH)
