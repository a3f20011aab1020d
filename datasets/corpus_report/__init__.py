"""What `bytenet data` reports about a corpus before anything is trained on it."""

from bytenet.datasets.corpus_report.corpus_report import CorpusReport
from bytenet.datasets.corpus_report.suspicious_pairs import find_suspicious

__all__ = ["CorpusReport", "find_suspicious"]
