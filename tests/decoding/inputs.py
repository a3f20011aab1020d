"""Inputs of small models, and their vocabulary."""

import numpy as np

from bytenet.datasets import Vocabulary

SOURCES = np.array([[3, 2, 4, 1, 0, 0], [4, 4, 1, 0, 0, 0], [2, 3, 3, 2, 4, 1]], np.int32)
VOCABULARY = Vocabulary("abcd e")
LINES = ["abba", "", "a bad cab", "dad", "   ", "a", "bead abba dead cab a a bad ace add", "zzz"]
# The settings of a small ByteNet.
SMALL = ("model.dim=4", "model.num_sets=1", "model.dilations=[1]")
