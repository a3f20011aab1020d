"""How good translations are, as scores that carry their settings and print themselves. No TensorFlow."""

from bytenet.evaluation.bleu import bleu, chrf
from bytenet.evaluation.likelihood import bits_per_character
from bytenet.evaluation.misclassification import (
    exact_match,
    pooled_misclassification,
    sentence_misclassification,
)
from bytenet.evaluation.scores import Score
from bytenet.evaluation.smoothing import smooth
from bytenet.evaluation.thesis_bleu import thesis_bleu

__all__ = [
    "Score",
    "bits_per_character",
    "bleu",
    "chrf",
    "exact_match",
    "pooled_misclassification",
    "sentence_misclassification",
    "smooth",
    "thesis_bleu",
]
