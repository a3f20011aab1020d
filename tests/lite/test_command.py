"""`bytenet-lite`: each input line gives one output line."""

import io
import shutil
import sys

import pytest

from bytenet.lite.__main__ import main


@pytest.fixture
def run(monkeypatch, capfdbinary):
    """Run the command; returns exit code, stdout and stderr."""

    def run_command(*arguments, stdin=b""):
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin)))
        try:
            code = main([str(argument) for argument in arguments])
        except SystemExit as exit:
            code = exit.code
        output = capfdbinary.readouterr()
        return code, output.out.decode(), output.err.decode()

    return run_command


@pytest.mark.parametrize(("stream", "name"), [("stdin", "input"), ("stdout", "output")])
def test_a_closed_stream_is_named(model_path, monkeypatch, capsys, stream, name):
    monkeypatch.setattr(sys, stream, None)
    with pytest.raises(SystemExit):
        main([str(model_path)])
    assert f"There is no standard {name}" in capsys.readouterr().err


def test_stdin_and_a_file_give_the_same_lines(run, model_path, lite, tmp_path):
    text = b"ein Hund\r\n\nzwei\n"
    (tmp_path / "in").write_bytes(text)
    expected = "".join(f"{best.text}\n" for best, *_ in lite.translate(["ein Hund", "", "zwei"]))
    assert run(model_path, stdin=text)[:2] == (0, expected)
    assert run(model_path, tmp_path / "in")[:2] == (0, expected)


def test_several_hypotheses_have_number_score_and_text(run, model_path, lite):
    code, out, _ = run(model_path, "--n-best", 2, stdin=b"ein\n\n")
    [best, second], _ = lite.translate(["ein", ""], 2)
    rows = [f"1\t{best.score:.4f}\t{best.text}", f"1\t{second.score:.4f}\t{second.text}", "2\t0.0000\t", ""]
    assert (code, out.split("\n")) == (0, rows)


def test_lines_are_split_into_sentences_or_not(run, model_path, lite):
    line = "ein Hund. Zwei Häuser!"
    whole, parts = (next(lite.translate([line], split_sentences=split))[0].text for split in (False, True))
    for options, expected in ((["--no-split"], whole), (["--split"], parts), ([], parts)):
        assert run(model_path, *options, stdin=line.encode())[:2] == (0, f"{expected}\n")
    code, _, err = run(model_path, "--split", "--n-best", 2)
    assert code == 2
    assert "--split gives one translation of each line" in err


def test_a_command_without_the_library_for_sentences_says_what_to_install(run, model_path, without_sentencex, caplog):
    assert run(model_path, stdin=b"ein\nzwei\n")[0] == 0
    [record] = caplog.records
    assert "pip install sentencex" in record.message
    code, _, err = run(model_path, "--split", stdin=b"ein\n")
    assert code == 1
    assert err.startswith("Error: Splitting lines into sentences needs the library sentencex")


def test_unknown_characters_and_cut_translations_are_named_in_one_closing_line(run, model_path, lite):
    lines = ["ein Hund ☃", "zwei", "☃ und 漢"]
    cut = sum(not best.ended for best, *_ in lite.translate(lines))
    assert cut > 1
    code, out, err = run(model_path, stdin="\n".join(lines).encode())
    assert (code, out.count("\n")) == (0, 3)
    assert err == (
        "Characters that the model does not know, in 2 lines: '☃' (U+2603) and '漢' (U+6F22). "
        f"{cut} translations reached the length limit without an end.\n"
    )
    assert run(model_path, stdin=b"\n\n") == (0, "\n\n", "")


def test_a_dash_is_standard_input(run, model_path, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    expected = run(model_path, stdin=b"ein\n")
    assert run(model_path, "-", stdin=b"ein\n") == expected
    (tmp_path / "-").write_bytes(b"ein\n")
    assert run(model_path, "-") == expected


def test_an_empty_argument_is_refused(run, model_path):
    code, out, err = run(model_path, "")
    assert (code, out) == (2, "")
    assert "argument FILE: it is empty; expected a path" in err


def test_lines_whose_translation_is_empty_are_counted(run, model_path, monkeypatch):
    monkeypatch.setattr("bytenet.lite.characters.Characters.decode", lambda *_: "")
    assert run(model_path, stdin=b"ein\n\nzwei\n")[2].endswith("2 lines have an empty translation.\n")
    assert run(model_path, stdin=b"ein\n \n")[2].endswith("1 line has an empty translation.\n")
    assert "empty" not in run(model_path, stdin=b"\n")[2]


def test_models_are_listed_and_cards_shown(run, model_path, ship, tmp_path):
    ship(tmp_path)
    code, out, err = run("--models")
    assert (code, out) == (0, "")
    assert "no pretrained model" in err
    for name in ("de-en", "en-de"):
        shutil.copy(model_path, tmp_path / f"{name}.bytenet")
    size = f"{model_path.stat().st_size / 1e6:.1f} MB"
    assert run("--models") == (0, f"de-en: de to en, {size}\n\nen-de: de to en, {size}\n", "")
    for model in ("de-en", model_path):
        assert run("--card", model) == (0, "# A model\n", "")
    code, out, err = run("--card", "de-ne")
    assert (code, out) == (1, "")
    assert "no pretrained model named 'de-ne'. Did you mean de-en?" in err


def test_without_a_model_nothing_is_translated(run, model_path):
    code, out, err = run()
    assert (code, out) == (2, "")
    assert "Give a MODEL. --models lists the pretrained ones." in err
    code, out, err = run(model_path, "--models")
    assert (code, out) == (2, "")
    assert "--models and --card translate nothing. Leave out MODEL and FILE." in err


def test_mistakes_are_messages(run, model_path, tmp_path):
    code, out, err = run(tmp_path / "nothing.bytenet")
    assert (code, out) == (1, "")
    assert "nothing.bytenet does not exist; expected a model file" in err
    for file, kind in ((tmp_path, "is a folder"), (tmp_path / "nothing", "does not exist")):
        assert f"{file} {kind}; expected a text file" in run(model_path, file)[2]
    code, out, err = run(model_path, stdin=b"ein\nH\xe4user\n")
    assert code == 1
    assert "stdin:2: byte 2 of the line is 0xe4" in err
    code, out, err = run(model_path, "--n-best", 4)
    assert (code, out) == (2, "")
    assert "--n-best: at most 3, the beam size" in err
    code, out, err = run(model_path, "--rerank-weight", 0.5)
    assert (code, out) == (2, "")
    assert err.startswith("Error: rerank_weight is 0.5, but no model is named")


@pytest.mark.parametrize("number", ["0", "-1", "a", "1.5", "\u00b2"])
@pytest.mark.parametrize("option", ["--threads", "--n-best"])
def test_numbers_are_checked_before_the_model_is_read(run, tmp_path, option, number):
    code, out, err = run(tmp_path / "nothing.bytenet", f"{option}={number}")
    assert (code, out) == (2, "")
    assert f"argument {option}: {number!r} is not a whole number of at least 1" in err
