"""Errors that users can correct: the commands print them without a traceback."""


class InputError(ValueError):
    """A value, file or setting that cannot be used.

    The message says what was found, what was expected, where, and what to do. The command prints it without a
    traceback and exits with 1.
    """


class ConfigError(InputError):
    """A configuration key that does not exist, or a value that it does not allow. The command exits with 2."""


class MissingFileError(InputError, FileNotFoundError):
    """A file or folder that should exist and does not."""

    def __str__(self) -> str:
        return ValueError.__str__(self)
