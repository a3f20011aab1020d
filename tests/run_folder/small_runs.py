"""The settings and the vocabulary of small runs."""

from bytenet.config import load_config
from bytenet.datasets import Vocabulary

CONFIG = load_config("digits", ["model.dim=4", "model.num_sets=1", "model.dilations=[1]"])
VOCABULARY = Vocabulary.from_texts(["eins zwei", "12 \u2028\t"])
SEMI = load_config("digits-semi", ["model.dim=4", "semi_supervised.target_weight=0"])
