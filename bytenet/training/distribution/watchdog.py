"""Kills a process that does not close this program's standard input in time.

It is started by its path and needs only the standard library, so that it is there at once.
"""

import os
import select
import signal
import socket
import sys
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor

SECONDS_TO_STAY = 5.0
"""How long a worker stays after it has found out that another one ended.

The others find out a little earlier or later. If this one had ended by then, they would name it, too.
"""

UNKNOWN_WORKER = "another worker (which one is not known)"
"""Stands in a message for the workers that ended, if nobody knows which ones they are."""

_PATIENCE_SECONDS = 3.0


def unreachable(addresses: Sequence[str]) -> list[str]:
    """The addresses, `host:port`, at which nobody listens. There must be at least one address."""
    with ThreadPoolExecutor(len(addresses)) as pool:
        return [one for one, here in zip(addresses, pool.map(is_reachable, addresses), strict=True) if not here]


def is_reachable(address: str) -> bool:
    """Whether somebody listens at `host:port`."""
    host, _, port = address.rpartition(":")
    try:
        socket.create_connection((host.strip("[]"), int(port)), _PATIENCE_SECONDS).close()
    except OSError:
        return False
    return True


def main(process: str, seconds: str, message: str, *workers: str) -> None:
    """Return when standard input ends. Kill the process if that takes too long.

    Args:
        process: its number.
        seconds: time limit; at least `SECONDS_TO_STAY` pass. The other workers are looked for that much earlier.
        message: written to standard error. `{}` stands for the workers that cannot be reached.
        workers: alternately an address and a name.
    """
    if _input_ends(max(float(seconds) - SECONDS_TO_STAY, 0.0)):
        return
    names = dict(zip(workers[::2], workers[1::2], strict=True))
    lost = [names[address] for address in unreachable([*names])]
    if _input_ends(SECONDS_TO_STAY):
        return
    lost = lost or [names[address] for address in unreachable([*names])]
    sys.stderr.write(message.replace("{}", " and ".join(lost) or UNKNOWN_WORKER))
    os.kill(int(process), signal.SIGKILL)


def _input_ends(seconds: float) -> bool:
    return bool(select.select([sys.stdin], [], [], seconds)[0])


if __name__ == "__main__":
    main(*sys.argv[1:])
