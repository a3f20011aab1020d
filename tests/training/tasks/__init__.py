"""Tests of tasks share the pairs of translators in `pairs` and the runs in `short_runs`."""
