"""The progress line, on a terminal and in a log file."""

import io
import re
from types import SimpleNamespace

import pytest
from rich.console import Console

from bytenet.training.callbacks.progress_line import ProgressLine
from bytenet.training.state import TrainingState


@pytest.fixture
def clock(monkeypatch):
    now = SimpleNamespace(seconds=1000.0)
    monkeypatch.setattr("bytenet.training.callbacks.progress_line.time.monotonic", lambda: now.seconds)
    return now


def make_progress(clock, is_terminal=False, compiles=True, width=150, total_steps=20):
    state = TrainingState()
    console = Console(file=io.StringIO(), force_terminal=is_terminal, width=width, highlight=False)
    progress = ProgressLine(state, steps_per_epoch=10, total_steps=total_steps, compiles=compiles, console=console)
    progress.set_model(SimpleNamespace(optimizer=SimpleNamespace(learning_rate=0.001)))
    progress.on_epoch_begin(0)
    return progress, state


def written(progress):
    return progress.console.file.getvalue()


def lines_of_bar(progress):
    """What the bar shows last, without the codes that move the cursor."""
    console = Console(file=io.StringIO(), width=progress.console.width)
    console.print(progress._bar.get_renderable())
    return console.file.getvalue().rstrip("\n").split("\n")


def one_step(progress, state, clock, seconds, shape=(4, 9), loss=2.5, **texts):
    progress.next_shapes({"pairs": shape, **texts})
    clock.seconds += seconds
    state.batch += 1
    state.step += 1
    state.seconds += seconds
    state.characters += 100
    progress.on_train_batch_end(0, {"loss": loss, "character_error": 0.5})


def test_log_file_gets_a_progress_line_every_half_minute(clock):
    progress, state = make_progress(clock, compiles=False)
    for _ in range(8):
        one_step(progress, state, clock, 8.0)
    lines = written(progress).strip().split("\n")
    assert len(lines) == 2
    assert lines[0] == ("[0:00:32] epoch 1/2, step 4/10: loss 2.5000, error 0.500, lr 0.001, 12 chars/s")


def test_an_evaluation_inside_of_an_epoch_has_a_line(clock):
    progress, state = make_progress(clock, compiles=False)
    one_step(progress, state, clock, 1.0)
    clock.seconds += 500  # of the evaluation
    state.batch, state.step, state.characters = 2, 2, 200
    progress.on_train_batch_end(1, {"loss": 2.5, "val_loss": 1.25})
    assert "epoch 1/2, step 2/10 (0:00:01): loss 2.5, val_loss 1.25" in written(progress)
    one_step(progress, state, clock, 10.0)
    assert progress.characters_per_second == 10


def test_shapes_of_texts_are_counted_separately_from_pairs(clock):
    progress, state = make_progress(clock)
    one_step(progress, state, clock, 60.0, source=(4, 9))
    one_step(progress, state, clock, 2.0, source=(4, 9))
    one_step(progress, state, clock, 30.0, source=(4, 12))
    assert progress.compile_seconds == 90.0
    text = written(progress)
    assert "compiling batch shape 1: 4 x 9, 2: 4 x 9 of source text ..." in text
    assert "compiling batch shape 3: 4 x 12 of source text ..." in text


def test_new_shapes_are_shown_and_excluded_from_the_speed(clock):
    progress, state = make_progress(clock)
    one_step(progress, state, clock, 60.0)
    assert "chars/s" not in written(progress)  # not known yet
    one_step(progress, state, clock, 2.0)
    one_step(progress, state, clock, 2.0)
    assert progress.characters_per_second == pytest.approx(50)
    assert progress.compile_seconds == 60.0
    one_step(progress, state, clock, 40.0, shape=(2, 20))
    assert progress.compile_seconds == 100.0
    text = written(progress)
    assert "compiling batch shape 1: 4 x 9" in text
    assert "compiling batch shape 2: 2 x 20" in text
    assert text.count("compiling") == 2


def test_terminal_shows_a_progress_bar(clock):
    progress, state = make_progress(clock, is_terminal=True, compiles=False)
    with progress.shown():
        one_step(progress, state, clock, 1.0)
    text = written(progress)
    assert "epoch 1/2" in text
    assert "1/20" in text


def test_bar_shows_all_steps_at_the_end_of_an_epoch(clock):
    progress, state = make_progress(clock, is_terminal=True, compiles=False)
    with progress.shown():
        for _ in range(10):
            one_step(progress, state, clock, 0.01)
        assert " 10/20 " not in lines_of_bar(progress)[0]
        progress.on_epoch_end(0, {"loss": 1.25})
        assert " 10/20 " in lines_of_bar(progress)[0]


def test_message_at_the_end_of_an_epoch_lists_the_metrics(clock):
    progress, state = make_progress(clock)
    state.seconds = 3725.0
    progress.on_epoch_end(0, {"loss": 1.25, "val_bleu": 18.126, "val_chrf": None})
    assert "epoch 1/2 (1:02:05): loss 1.25, val_bleu 18.13\n" in written(progress)


@pytest.mark.parametrize("total_steps", [20, 13])
def test_bar_ends_where_the_run_ends(clock, total_steps):
    progress, state = make_progress(clock, is_terminal=True, compiles=False, total_steps=total_steps)
    with progress.shown():
        for step in range(total_steps):
            one_step(progress, state, clock, 1.0)
            if step % 10 == 9:
                state.epoch += 1
                state.batch = 0
        progress.on_epoch_end(1, {"loss": 1.25})
        line = lines_of_bar(progress)[0]
        assert line.startswith("epoch 2/2 ")
        assert f" {total_steps}/{total_steps} " in line


@pytest.mark.parametrize("width", [40, 60, 80, 99, 100, 200])
def test_bar_is_one_line_with_the_time_left_in_every_window(clock, width):
    progress, state = make_progress(clock, is_terminal=True, compiles=False, width=width, total_steps=20_000)
    with progress.shown():
        for _ in range(2):
            one_step(progress, state, clock, 1.0)
        [line] = lines_of_bar(progress)
    assert len(line) <= width
    assert line.startswith("epoch 1/2000 ")
    assert " 2/20000 " in line
    assert re.search(r" (\d+|-):(\d\d|--):(\d\d|--) ", line)  # the time left
    assert "loss" in line


@pytest.mark.parametrize("total_steps", [20, 20_000, 2_000_000])
def test_in_the_narrowest_window_the_time_left_stays(clock, total_steps):
    progress, state = make_progress(clock, is_terminal=True, compiles=False, width=20, total_steps=total_steps)
    with progress.shown():
        for _ in range(2):
            one_step(progress, state, clock, 1.0)
        [line] = lines_of_bar(progress)
    assert len(line) <= 20
    assert re.match(r"epoch 1/\S+ +(\d+|-):(\d\d|--):(\d\d|--) *$", line)


def test_every_message_is_one_line_in_a_log_file(clock):
    progress, state = make_progress(clock, width=40)
    one_step(progress, state, clock, 60.0, source=(4, 9), target=(4, 9))
    one_step(progress, state, clock, 60.0)
    progress.on_epoch_end(0, {f"measure_{number}": 0.5 for number in range(20)})
    assert len(written(progress).strip().split("\n")) == 4
