"""What to say about a file that could not be read to its end: the system refused, or its content is damaged."""

import errno
import os

from bytenet.errors import InputError


def unreadable(place: object, error: OSError) -> InputError:
    """The error of a file that the system could not open or read; `place` is its name in the message."""
    reason = os.strerror(error.errno) if error.errno else str(error)
    advice = "Look at the file and its disk, and run the command again."
    if isinstance(error, PermissionError):
        advice = "Change its permissions."
    return InputError(f"{place} cannot be read: {reason}. {advice}")


def reading_fault(place: object, error: Exception, damage: str) -> InputError:
    """The error of a compressed file or an archive that could not be read.

    Args:
        place: its name in messages.
        error: one of `bytenet.limits.BROKEN_ARCHIVE`, or what another reader raises for damage.
        damage: the message if the content is damaged.
    """
    # A damaged archive may name a place before its beginning: EINVAL.
    if isinstance(error, OSError) and error.errno not in (None, errno.EINVAL):
        return unreadable(place, error)
    return InputError(damage)
