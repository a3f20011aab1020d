"""What the command answers when a user, not the program, made the mistake."""


class InputError(ValueError):
    """A value, file or setting that cannot be used.

    The message says what was found, what was expected, where, and what to do. The command prints it
    without a traceback and exits with 1.
    """


class ConfigError(InputError):
    """A configuration key or value that does not exist or does not fit. The command exits with 2."""


class MissingFileError(InputError, FileNotFoundError):
    """A file or folder that should be there and is not."""

    def __str__(self) -> str:
        return ValueError.__str__(self)
