"""A process that ends another one after a time limit, if that one can no longer run Python code.

It is started by its path and needs only the standard library, so that it is there at once.
"""

import os
import select
import signal
import socket
import sys

_PATIENCE_SECONDS = 3.0


def answers(address: str) -> bool:
    """Whether somebody listens at `host:port`."""
    host, _, port = address.rpartition(":")
    try:
        socket.create_connection((host.strip("[]"), int(port)), _PATIENCE_SECONDS).close()
    except OSError:
        return False
    return True


def main(process: str, seconds: str, message: str, *workers: str) -> None:
    """Wait until standard input ends, because the other process has no more need of a guard. Else kill it.

    Args:
        process: its number.
        seconds: time limit.
        message: written to standard error. `{}` stands for the workers that do not answer.
        workers: addresses and names of the workers that it waits for, in turn.
    """
    if select.select([sys.stdin], [], [], float(seconds))[0]:
        return
    names = dict(zip(workers[::2], workers[1::2], strict=True))
    silent = [name for address, name in names.items() if not answers(address)]
    sys.stderr.write(message.replace("{}", " and ".join(silent) or "another worker (which one is not known)"))
    os.kill(int(process), signal.SIGKILL)


if __name__ == "__main__":
    main(*sys.argv[1:])
