"""A text to translate, with blank lines."""

TEXT = "ein Hund\n\nzwei Häuser\n   \nein\n".encode()
