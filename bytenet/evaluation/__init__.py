"""Scores of translations. Each score has its settings with it. Nothing here imports TensorFlow."""

from bytenet.evaluation.comparison import Comparison, compare_translations
from bytenet.evaluation.evaluate_run import evaluate_run, pairs_of_split, text_scores
from bytenet.evaluation.evaluation import Evaluation, samples_table
from bytenet.evaluation.metrics.bleu import bleu, chrf, length_ratio
from bytenet.evaluation.metrics.exact_match import exact_match
from bytenet.evaluation.metrics.likelihood import bits_per_character
from bytenet.evaluation.metrics.misclassification import pooled_misclassification, sentence_misclassification
from bytenet.evaluation.metrics.scores import Score
from bytenet.evaluation.metrics.thesis_bleu import thesis_bleu
from bytenet.evaluation.smoothing import smooth
from bytenet.evaluation.trainings_comparison import TrainingsComparison, compare_trainings

__all__ = [
    "Comparison",
    "Evaluation",
    "Score",
    "TrainingsComparison",
    "bits_per_character",
    "bleu",
    "chrf",
    "compare_trainings",
    "compare_translations",
    "evaluate_run",
    "exact_match",
    "length_ratio",
    "pairs_of_split",
    "pooled_misclassification",
    "samples_table",
    "sentence_misclassification",
    "smooth",
    "text_scores",
    "thesis_bleu",
]
