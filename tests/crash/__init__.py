"""Kills, full disks and odd surroundings: `python -m tests.crash`, or `make crash-test`."""
