"""`bytenet translate`: each input line gives one output line."""

import errno
import gzip
import os
import shutil
import subprocess
import sys

import click
import numpy as np
import pytest
import yaml

from bytenet.cli.common.unknown_characters import UnknownCharacters
from bytenet.cli.translate import translate
from bytenet.cli.translate.dictionary import read_dictionary
from bytenet.datasets import Vocabulary
from bytenet.errors import ConfigError, InputError, MissingFileError
from bytenet.lite.characters import UNKNOWN_ID
from bytenet.run_folder import RunFolder
from bytenet.saved.keras_model import save_model

TEXT = "ein Hund\n\nzwei Häuser\n   \nein\n".encode()


@pytest.fixture(autouse=True, scope="module")
def shared_translators():
    """Make one translator for each set of options. Loading a model and tracing its search takes most of the time."""
    from bytenet.decoding import Translator

    make, translators = Translator.from_run, {}

    def from_run(*folders, **options):
        key = (*(folder.path for folder in folders), repr(options))
        if key not in translators:
            translators[key] = make(*folders, **options)
        return translators[key]

    with pytest.MonkeyPatch.context() as monkeypatch:
        monkeypatch.setattr(Translator, "from_run", from_run)
        yield


def test_each_line_gives_one_line_and_blank_lines_stay_blank(run_folder, invoke):
    result = invoke(translate, run_folder.path, stdin=TEXT)
    lines = result.stdout_bytes.decode().split("\n")
    assert [bool(line) for line in lines] == [True, False, True, False, True, False]
    assert "Translated 5 lines" in result.stderr
    without_last_end = invoke(translate, run_folder.path, stdin=TEXT.removesuffix(b"\n"))
    assert without_last_end.stdout_bytes == result.stdout_bytes
    windows = invoke(translate, run_folder.path, stdin=TEXT.replace(b"\n", b"\r\n"))
    assert windows.stdout_bytes == result.stdout_bytes


def test_empty_input_gives_empty_output(run_folder, invoke, tmp_path):
    assert invoke(translate, run_folder.path, stdin=b"").stdout_bytes == b""
    (tmp_path / "empty").touch()
    assert invoke(translate, run_folder.path, tmp_path / "empty").stdout_bytes == b""


def test_files_give_the_same_output_as_stdin_and_stdout(run_folder, invoke, tmp_path):
    (tmp_path / "in.gz").write_bytes(gzip.compress(TEXT))
    result = invoke(translate, run_folder.path, tmp_path / "in.gz", "--output", tmp_path / "out")
    assert result.stdout_bytes == b""
    assert (tmp_path / "out").read_bytes() == invoke(translate, run_folder.path, stdin=TEXT).stdout_bytes
    invoke(translate, run_folder.path, tmp_path / "in.gz", "--output", tmp_path / "out.gz")
    assert gzip.decompress((tmp_path / "out.gz").read_bytes()) == (tmp_path / "out").read_bytes()


def test_only_newlines_end_lines(run_folder, invoke):
    result = invoke(translate, run_folder.path, stdin="ein\u2028Hund\x85 zwei\rdrei\n".encode())
    assert result.stdout_bytes.count(b"\n") == 1


def test_n_best_prints_line_number_score_and_translation(run_folder, invoke):
    result = invoke(translate, run_folder.path, "--n-best", 3, stdin=b"ein Hund\n\nzwei\n")
    rows = [line.split("\t") for line in result.stdout_bytes.decode().removesuffix("\n").split("\n")]
    assert [row[0] for row in rows] == ["1", "1", "1", "2", "3", "3", "3"]
    assert rows[3] == ["2", "0.0000", ""]
    best = invoke(translate, run_folder.path, stdin=b"ein Hund\n\nzwei\n").stdout_bytes.decode().split("\n")
    assert [rows[0][2], rows[3][2], rows[4][2]] == best[:3]


def test_options_reach_the_search(run_folder, invoke):
    result = invoke(translate, run_folder.path, "--max-length", 3, "--beam-size", 1, "--batch-size", 2, stdin=TEXT)
    assert max(len(line) for line in result.stdout_bytes.decode().split("\n")) <= 3
    assert "beam size 1" in result.stderr


@pytest.mark.parametrize(
    ("arguments", "option"),
    [
        (["--n-best", "4"], "--beam-size"),
        (["--beam-size", "2", "--n-best", "3"], "--beam-size"),
        (["--samples", "2", "--n-best", "3"], "--samples"),
    ],
)
def test_n_best_above_the_number_of_hypotheses_exits_with_code_2(run_folder, invoke, arguments, option):
    result = invoke(translate, run_folder.path, *arguments)
    assert result.exit_code == 2
    assert f"needs {option} {arguments[-1]} or more" in result.stderr


def test_samples_depend_on_the_seed(run_folder, invoke):
    options = ("--samples", 2, "--temperature", 1.5, "--max-length", 9)
    results = [invoke(translate, run_folder.path, *options, *seed, stdin=TEXT) for seed in ((), ("--seed", 2), ())]
    first, other, again = (result.stdout_bytes for result in results)
    assert first == again != other
    assert "number of samples 2" in results[0].stderr
    best = invoke(translate, run_folder.path, *options, "--n-best", 2, stdin=TEXT).stdout_bytes.decode().splitlines()
    assert [line.partition("\t")[0] for line in best] == ["1", "1", "2", "3", "3", "4", "5", "5"]


def test_minimum_bayes_risk_ranks_samples(run_folder, invoke):
    options = ("--samples", 8, "--temperature", 1.5, "--max-length", 9, "--n-best", 8)
    results = [invoke(translate, run_folder.path, *options, *mbr, stdin=b"ein\n") for mbr in ((), ("--mbr",))]
    plain, by_risk = ([line.split("\t") for line in result.stdout.splitlines()] for result in results)
    assert sorted(text for _, _, text in plain) == sorted(text for _, _, text in by_risk)
    assert all(float(score) < 0 for _, score, _ in plain)
    assert all(0 <= float(score) <= 100 for _, score, _ in by_risk)


def test_options_of_samples_need_samples(run_folder, invoke):
    with pytest.raises(ConfigError, match="top_k is 5, but no samples are drawn"):
        invoke(translate, run_folder.path, "--top-k", 5, stdin=TEXT)
    with pytest.raises(ConfigError, match="Leave out beam_size"):
        invoke(translate, run_folder.path, "--samples", 1, "--beam-size", 5, stdin=TEXT)
    assert invoke(translate, run_folder.path, "--samples", 1, "--temperature", 0, stdin=TEXT).exit_code == 2


def test_invalid_utf8_error_names_line_and_byte(run_folder, invoke, tmp_path):
    with pytest.raises(InputError, match=r"stdin:2: byte 3 of the line is 0xe4.*iconv"):
        invoke(translate, run_folder.path, stdin=b"ein\nH\xc3\xa4\xe4\n".replace(b"\xc3\xa4", b"a"))
    (tmp_path / "in").write_bytes(b"ein\nHa\xe4\n")
    with pytest.raises(InputError, match=r"in:2: byte 3 of the line"):
        invoke(translate, run_folder.path, tmp_path / "in")


def test_stdin_is_read_like_a_file(run_folder, invoke):
    plain = invoke(translate, run_folder.path, stdin=b"ein Hund\n").stdout
    assert invoke(translate, run_folder.path, stdin=b"\xef\xbb\xbfein Hund\r\n").stdout == plain
    with pytest.raises(InputError, match="stdin:2: found a NUL character"):
        invoke(translate, run_folder.path, stdin=b"ein\nH\0und\n")


@pytest.mark.thorough
def test_window_of_one_answers_each_line_before_reading_the_next(run_folder):
    command = [sys.executable, "-m", "bytenet", "translate", str(run_folder.path), "--window", "1", "--beam-size", "1"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as process:
        for _ in range(2):
            process.stdin.write(b"ein Hund\n")
            process.stdin.flush()
            assert process.stdout.readline().endswith(b"\n")
        process.stdin.close()
        assert process.wait() == 0


def test_output_works_for_a_pipe_and_is_refused_for_a_bad_path(run_folder, invoke, tmp_path):
    assert invoke(translate, run_folder.path, "--output", tmp_path, stdin=TEXT).exit_code == 2
    with pytest.raises(MissingFileError, match=r"nowhere/out cannot be written: there is no folder .*nowhere\. Make"):
        invoke(translate, run_folder.path, "--output", tmp_path / "nowhere" / "out", stdin=TEXT)
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with subprocess.Popen(["cat", pipe], stdout=subprocess.PIPE) as reader:
        invoke(translate, run_folder.path, "--output", pipe, stdin=b"\n")
        assert reader.stdout.read() == b"\n"
    assert pipe.is_fifo()
    compressed = pipe.rename(tmp_path / "pipe.gz")
    with subprocess.Popen(["cat", compressed], stdout=subprocess.PIPE) as reader:
        invoke(translate, run_folder.path, "--output", compressed, stdin=b"\n")
        assert gzip.decompress(reader.stdout.read()) == b"\n"


def test_the_file_to_translate_is_not_overwritten(run_folder, invoke, tmp_path):
    (tmp_path / "text").write_bytes(TEXT)
    (tmp_path / "link").symlink_to("text")
    for output in ("text", "link"):
        result = invoke(translate, run_folder.path, tmp_path / "text", "--output", tmp_path / output)
        assert result.exit_code == 2
        assert "--output is the input itself" in result.stderr
    assert (tmp_path / "text").read_bytes() == TEXT
    with pytest.raises(MissingFileError, match=r"There is no file Guten Morgen; .* To translate a text"):
        invoke(translate, run_folder.path, "Guten Morgen", "--output", tmp_path / "text")
    assert invoke(translate, run_folder.path, "/dev/null", "--output", "/dev/null").exit_code == 0


def test_the_file_of_the_standard_input_is_not_overwritten(run_folder, tmp_path, monkeypatch):
    (tmp_path / "text").write_bytes(TEXT)
    with open(tmp_path / "text") as stdin:
        monkeypatch.setattr(sys, "stdin", stdin)
        with pytest.raises(click.UsageError, match="--output is the input itself"):
            translate.main([str(run_folder.path), "--output", str(tmp_path / "text")], standalone_mode=False)
    assert (tmp_path / "text").read_bytes() == TEXT
    monkeypatch.setattr(sys, "stdin", None)
    with pytest.raises(click.UsageError, match=r"There is no standard input\. Give a FILE\."):
        translate.main([str(run_folder.path)], standalone_mode=False)


def test_a_text_in_the_place_of_a_file_is_no_file(run_folder, invoke):
    with pytest.raises(MissingFileError, match=r"There is no file Ein Satz.* To translate a text: echo 'Ein Satz"):
        invoke(translate, run_folder.path, "Ein Satz " * 40)
    with pytest.raises(MissingFileError, match="does not exist; expected the folder of a run"):
        invoke(translate, "Ein Satz " * 40)


def test_a_model_to_rerank_with_that_is_missing_is_named_as_such(run_folder, invoke):
    with pytest.raises(MissingFileError, match=r"^rerank_with: nowhere does not exist.* give --rerank-weight 0\."):
        invoke(translate, run_folder.path, "--rerank-with", "nowhere", stdin=TEXT)
    options = ("--rerank-with", "nowhere", "--rerank-weight", 0)
    assert invoke(translate, run_folder.path, *options, stdin=TEXT).exit_code == 0


def test_a_file_that_is_written_has_a_progress_bar(run_folder, invoke, tmp_path):
    (tmp_path / "text").write_bytes(TEXT)
    assert "Translating" in invoke(translate, run_folder.path, tmp_path / "text", "--output", tmp_path / "out").stderr
    assert "Translating" not in invoke(translate, run_folder.path, tmp_path / "text").stderr


def test_output_to_a_link_writes_what_it_points_to(run_folder, invoke, tmp_path):
    (tmp_path / "out").write_text("earlier\n")
    (tmp_path / "link").symlink_to("out")
    expected = invoke(translate, run_folder.path, stdin=TEXT).stdout
    invoke(translate, run_folder.path, "--output", tmp_path / "link", stdin=TEXT)
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "out").read_text(encoding="utf-8") == expected
    with open(tmp_path / "out", "ab") as file:  # as a shell does for >>
        (tmp_path / "descriptor").symlink_to(f"/dev/fd/{file.fileno()}")
        invoke(translate, run_folder.path, "--output", tmp_path / "descriptor", stdin=TEXT)
    assert (tmp_path / "out").read_text(encoding="utf-8") == expected * 2
    (tmp_path / "loop").symlink_to("loop")
    with pytest.raises(InputError, match=r"loop cannot be written: it is a link that leads nowhere\. Remove the link"):
        invoke(translate, run_folder.path, "--output", tmp_path / "loop", stdin=TEXT)


def test_error_names_an_unusable_run_folder_or_input_file(run_folder, invoke, tmp_path):
    with pytest.raises(MissingFileError, match="nothing does not exist; expected the folder of a run"):
        invoke(translate, tmp_path / "nothing", stdin=TEXT)
    with pytest.raises(MissingFileError, match="not a run folder"):
        invoke(translate, tmp_path, stdin=TEXT)
    advice = f"There is no file Guten Morgen; .* echo 'Guten Morgen' | bytenet translate {run_folder.path}"
    with pytest.raises(MissingFileError, match=advice.replace("|", r"\|") + "$"):
        invoke(translate, run_folder.path, "Guten Morgen")


def test_failure_midway_keeps_the_earlier_output(run_folder, invoke, tmp_path, monkeypatch):
    from bytenet.decoding import Translator

    def fail_after_one(self, lines, *arguments, **options):
        whole = original(self, lines, *arguments, **options)
        yield next(whole)
        raise OSError(errno.ENOSPC, "No space left on device")

    original = Translator.translate
    monkeypatch.setattr(Translator, "translate", fail_after_one)
    (tmp_path / "out").write_text("earlier\n")
    with pytest.raises(InputError, match="disk is full"):
        invoke(translate, run_folder.path, "--output", tmp_path / "out", stdin=TEXT)
    assert (tmp_path / "out").read_text() == "earlier\n"
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


def test_several_runs_translate_together(run_folder, attentive_run_folder, invoke, tmp_path):
    (tmp_path / "in").write_bytes(TEXT)
    alone = invoke(translate, run_folder.path, tmp_path / "in").stdout_bytes
    twice = invoke(translate, run_folder.path, run_folder.path, tmp_path / "in").stdout_bytes
    assert twice == alone
    together = invoke(translate, run_folder.path, attentive_run_folder.path, stdin=TEXT).stdout_bytes
    assert together != alone
    assert [bool(line) for line in together.decode().split("\n")] == [True, False, True, False, True, False]


def test_runs_with_different_vocabularies_cannot_translate_together(run_folder, invoke, tmp_path):
    other = shutil.copytree(run_folder.path, tmp_path / "other")
    (other / "vocabulary.json").write_text(Vocabulary("abc").to_json(), encoding="utf-8")
    with pytest.raises(InputError, match="different vocabularies"):
        invoke(translate, run_folder.path, other, stdin=TEXT)


def test_least_length_is_kept(run_folder, invoke):
    options = ("--min-length", 9, "--max-length", 9)
    result = invoke(translate, run_folder.path, *options, stdin=TEXT)
    lengths = [len(line) for line in result.stdout_bytes.decode().split("\n") if line]
    assert lengths
    assert set(lengths) <= {8, 9}  # eight characters and the end symbol, or cut off


def test_unknown_characters_are_replaced_by_those_they_attend_to(attentive_run_folder, invoke, tmp_path):
    run = RunFolder(shutil.copytree(attentive_run_folder.path, tmp_path / "run"))
    model = run.load_model()
    [bias] = [weight for weight in model.weights if weight.shape == (run.vocabulary.size,)]
    bias.assign(np.eye(run.vocabulary.size)[UNKNOWN_ID] * 100)  # the model writes nothing but unknown symbols
    save_model(model, run.model_path)
    (tmp_path / "dictionary").write_text("☃\tsnowman\n", encoding="utf-8")
    options = ("--replace-unknown", "--dictionary", tmp_path / "dictionary", "--min-length", 4, "--max-length", 4)
    result = invoke(translate, run.path, *options, stdin="☃☃☃\n".encode())
    assert result.stdout_bytes.decode() == "snowman" * 4 + "\n"
    assert "does not know" not in result.stderr


def test_option_turns_off_the_replacement_of_the_run(attentive_run_folder, invoke, tmp_path):
    run = RunFolder(shutil.copytree(attentive_run_folder.path, tmp_path / "run"))
    settings = yaml.safe_load(run.config_path.read_text(encoding="utf-8"))
    settings["decoding"]["replace_unknown"] = True
    run.config_path.write_text(yaml.safe_dump(settings), encoding="utf-8")
    replacing, copying = (
        invoke(translate, run.path, *options, stdin="☃\n".encode()) for options in ((), ("--no-replace-unknown",))
    )
    assert "does not know" not in replacing.stderr
    assert "does not know" in copying.stderr


@pytest.mark.parametrize(
    ("lines", "num_lines", "message"),
    [
        (["Ein", "", "\u200b", "\tEin\n", "E\u0308in"], 0, ""),
        (["漢字"], 1, "'漢' (U+6F22) and '字' (U+5B57)"),
        (["Ein\u202e", "E", "☃"], 2, r"'\u202e' (U+202E) and '☃' (U+2603)"),
        (["abcdd"], 1, "'a' (U+0061), 'b' (U+0062), 'c' (U+0063) and 1 other"),
        (["dcba", "e"], 2, "'d' (U+0064), 'c' (U+0063), 'b' (U+0062) and 2 others"),
    ],
)
def test_unknown_characters_are_counted_and_shown_as_the_model_reads_lines(lines, num_lines, message):
    unknown = UnknownCharacters(frozenset("EËin"))
    assert list(unknown.watch(lines)) == lines
    assert (unknown.num_lines, str(unknown)) == (num_lines, message)


def test_model_without_attention_cannot_replace_unknown_characters(run_folder, invoke):
    with pytest.raises(InputError, match="bytenet has no attention"):
        invoke(translate, run_folder.path, "--replace-unknown", stdin=TEXT)


def test_characters_of_a_dictionary_are_composed(tmp_path):
    (tmp_path / "dictionary").write_text("u\u0308\tue\n", encoding="utf-8")
    assert read_dictionary(tmp_path / "dictionary") == {"\u00fc": "ue"}


def test_dictionary_needs_the_replacement(attentive_run_folder, invoke, tmp_path):
    (tmp_path / "dictionary").write_text("a\tb\n", encoding="utf-8")
    result = invoke(translate, attentive_run_folder.path, "--dictionary", tmp_path / "dictionary", stdin=TEXT)
    assert (result.exit_code, result.stdout_bytes) == (2, b"")
    assert "--dictionary needs --replace-unknown" in result.stderr


@pytest.mark.parametrize("line", ["word", "word\tWort", "\tb"])
def test_dictionary_of_another_form_is_refused(attentive_run_folder, invoke, tmp_path, line):
    (tmp_path / "dictionary").write_text(f"a\tb\n{line}\n", encoding="utf-8")
    with pytest.raises(InputError, match=r"dictionary:2: expected one character, a tab"):
        invoke(translate, attentive_run_folder.path, "--dictionary", tmp_path / "dictionary", stdin=TEXT)
