"""Lines of a stream in, lines of translations out, as the commands read and write them."""

from collections.abc import Iterable, Iterator, Sequence

from bytenet.errors import InputError
from bytenet.lite.translation import Translation


def decoded_lines(stream: Iterable[bytes], name: str = "stdin") -> Iterator[str]:
    """Read lines of a UTF-8 stream one by one, without "\\n" or "\\r\\n", and without a byte order mark at the start.

    In a file, "\\r" is removed only if all lines end with it. In a stream the later lines are not known yet.

    Raises:
        InputError: a line is not UTF-8 or has a NUL; `name` is the stream's name in the message.
    """
    for number, line in enumerate(stream, start=1):
        if b"\0" in line:
            raise InputError(f"{name}:{number}: found a NUL character; expected text. Convert it to UTF-8 first.")
        try:
            text = line.removesuffix(b"\n").removesuffix(b"\r").decode("utf-8")
            yield text.removeprefix("\ufeff") if number == 1 else text
        except UnicodeDecodeError as error:
            raise InputError(
                f"{name}:{number}: byte {error.start + 1} of the line is 0x{line[error.start]:02x}; expected UTF-8. "
                "Convert the text first, for example with iconv -f ISO-8859-1 -t UTF-8."
            ) from error


def formatted(number: int, translations: Sequence[Translation], n_best: int) -> str:
    """The output for line `number`: the translation; with `n_best` above 1, lines of number, score and translation."""
    if n_best == 1:
        return f"{translations[0].text}\n"
    return "".join(f"{number}\t{hypothesis.score:.4f}\t{hypothesis.text}\n" for hypothesis in translations)
