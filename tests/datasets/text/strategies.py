"""Hypothesis strategies: any text, and the rules for unknown characters."""

from hypothesis import strategies as st

# Control characters, spaces, line ends, invisible characters, a noncharacter and an emoji.
ODD = "\0\t\r\n \x0b\x85\xa0\xad\u2028\u2029\ufeff\ufffd\ufffe\U0001f600"
any_text = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
rules = st.sampled_from(["symbol", "drop"])
