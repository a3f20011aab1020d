"""Text: files of lines, their normal form, the vocabulary, and ids."""
