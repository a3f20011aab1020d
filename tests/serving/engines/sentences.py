"""Sentences to translate."""

LINES = ["ein Hund", "zwei", "x", "ein unbekanntes ☃ und ein langer Satz, der über die Grenze geht"]
