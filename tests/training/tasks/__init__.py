"""Tests of tasks share the pairs of translators in `pairs`."""
