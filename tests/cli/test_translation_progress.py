"""The progress of a translation, where standard error is no terminal."""

import sys

from bytenet.cli.common import translation_progress


def test_a_line_is_printed_every_half_minute(monkeypatch, capsys):
    now = iter([0.0, 10.0, 31.0, 40.0, 61.5])
    monkeypatch.setattr(translation_progress.time, "monotonic", lambda: next(now))
    with translation_progress.translation_progress(2000) as progress:
        for done in (10, 20, 30, 1540):
            progress(done)
    assert capsys.readouterr().err.splitlines() == [
        "Translating 2,000 lines ...",
        "Translated 20 of 2,000 lines after 31 s.",
        "Translated 1,540 of 2,000 lines after 62 s.",
    ]


def test_progress_for_a_closed_standard_error_is_not_on_standard_output(monkeypatch, capsys):
    monkeypatch.setattr(sys, "stderr", None)
    with translation_progress.translation_progress(2000) as progress:
        progress(10)
    assert capsys.readouterr().out == ""
