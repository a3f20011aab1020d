"""A page of Markdown about a run: what it did, its scores, and its curves."""

import math
import os
import shlex
from pathlib import Path

from bytenet.config import DataConfig
from bytenet.csv_log import read_csv_log
from bytenet.datasets.corpora.entry import USERS_CORPORA
from bytenet.errors import InputError, MissingFileError
from bytenet.evaluation.training_curves import plot_curves
from bytenet.files import write_text_atomic
from bytenet.limits import MOST_JSON_BYTES, read_limited
from bytenet.markdown import cell, code, link_target, table
from bytenet.run_folder import RunFolder
from bytenet.saved.environment import commits_of
from bytenet.saved.evaluations import SavedEvaluation, saved_evaluations


def write_run_page(run_dir: str | os.PathLike[str], path: Path, title: str) -> None:
    """Write the page, and beside it the curves as `STEM-curves.png`.

    The folder of an averaged model has no measurements of epochs, so its page has no curves.

    Args:
        run_dir: the run folder, after training and at least one `bytenet evaluate`.
        path: of the Markdown file.
        title: the heading.

    Raises:
        MissingFileError: the folder is not a run, or is not trained or evaluated yet.
        InputError: a file in it is damaged.
    """
    folder = RunFolder.open(run_dir)
    evaluations = saved_evaluations(folder.evaluation, folder.model_sha256)
    missing = [] if folder.environment_path.is_file() else ["environment.json (written when training starts)"]
    if not evaluations:
        split = " --split validation" if _lacks_test_pairs(folder.config.data) else ""
        command = f"bytenet evaluate {shlex.quote(str(folder.path))}{split}"
        missing.append(f"the scores of its present model on a test set (written by `{command}`)")
    if missing:
        raise MissingFileError(f"{folder.path} has nothing to report yet. Missing: {' and '.join(missing)}.")
    path.parent.mkdir(parents=True, exist_ok=True)
    metrics = read_csv_log(folder.metrics_path)
    try:
        sections = [f"# {title}", _training(folder, metrics)]
        if metrics:
            curves = path.with_name(f"{path.stem}-curves.png")
            plot_curves(folder, curves)
            sections += [f"![Curves of the training]({link_target(curves.name)})", _epochs(folder, metrics)]
    except KeyError as error:
        raise InputError(
            f"{folder.environment_path} or {folder.metrics_path} is damaged: {error} is missing. Bring back the file."
        ) from None
    sections += [_evaluation(folder.evaluation, name, evaluation) for name, evaluation in evaluations.items()]
    write_text_atomic(path, "\n\n".join(section.strip() for section in sections) + "\n")


def _lacks_test_pairs(data: DataConfig) -> bool:
    """Whether a corpus of the user's files has validation pairs, and no test pairs."""
    return data.corpus in USERS_CORPORA and data.test_source is None and data.validation_source is not None


def _training(folder: RunFolder, metrics: dict[str, list[float]]) -> str:
    environment = folder.environment()
    machine = environment["machine"]
    versions = ", ".join(f"{name} {version}" for name, version in environment["versions"].items())
    rows = {
        "command": ", then ".join(code(command).replace("|", "\\|") for command in environment["commands"]),
        "machine": cell(f"{machine['cores']} cores, {machine['processor']}, {machine['platform']}"),
        "versions": cell(f"{versions}; commit {', then '.join(commits_of(environment)) or None}"),
        "trainable parameters": f"{environment['trainable_parameters']:,}",
    }
    if metrics:
        epochs, steps, seconds, characters = (metrics[name][-1] for name in ("epoch", "step", "seconds", "characters"))
        included = "compilation and validation included"
        rounds = f"{epochs:.0f} epoch{'' if epochs == 1 else 's'}"
        time = f"{seconds / 60:.0f} minutes" if seconds >= 120 else f"{seconds:.0f} seconds"
        rows["time"] = f"{time} for {rounds}, {steps:,.0f} steps; {included}"
        if not math.isnan(characters):  # a backward translator does not count them
            rows["speed"] = f"{characters / seconds:,.0f} target characters per second, {included}"
    return "## Training\n\n" + table(("", ""), rows.items())


def _epochs(folder: RunFolder, metrics: dict[str, list[float]]) -> str:
    measured = [name for name, values in metrics.items() if not all(map(math.isnan, values))]
    inside_epochs = len(set(metrics["epoch"])) < len(metrics["epoch"])
    names = [name for name in measured if name != "characters" and (name != "step" or inside_epochs)]
    rows = [[_number(name, metrics[name][row]) for name in names] for row in range(len(metrics["epoch"]))]
    training = folder.config.training
    additions = "".join(f", with {addition}" for addition in training.loss_additions)
    units = (
        f"loss in nats per {training.loss}, mean over batches{additions}; val_loss in nats per character; "
        "val_misclassification, val_bleu and val_chrf of translations"
    )
    return f"Epoch by epoch ({units}):\n\n" + table(names, rows)


def _number(name: str, value: float) -> str:
    if math.isnan(value):
        return ""
    if name in ("epoch", "step", "seconds"):
        return f"{value:,.0f}"
    return f"{value:.2f}" if name in ("val_bleu", "val_chrf") else f"{value:.4g}"


def _evaluation(folder: Path, name: str, evaluation: SavedEvaluation) -> str:
    scores = []
    for score in evaluation["scores"]:
        digits = score.get("digits", 2 if score["value"] > 2 else 4)
        low, high = score["interval"] or (None, None)
        interval = "" if low is None else f"{low:.{digits}f} to {high:.{digits}f}"
        scores.append((cell(score["name"]), f"{score['value']:.{digits}f}", interval, cell(score["settings"])))
    total, search = evaluation["num_sentences"], evaluation["settings"]
    settings = ", ".join(f"{key.replace('_', ' ')} {value}" for key, value in search.items() if value is not None)
    samples_path = folder / f"{name}.samples.md"
    samples = read_limited(samples_path, MOST_JSON_BYTES, "translations in Markdown").decode("utf-8", "replace")
    if samples.startswith("|"):  # there are no others, or an earlier version chose them
        number = samples.count("\n") - 2
        shown = "The first sentence" if number == 1 else f"The first {number} sentences, in their order"
        samples = f"{shown}:\n\n{samples}"
    return "\n\n".join(
        [
            f"## Scores on {name}",
            f"{total:,} sentence{'s' * (total != 1)}, translated in {evaluation['seconds']:.0f} seconds "
            f"({evaluation['characters_per_second']:,.0f} characters per second); {settings}.",
            table(("score", "value", "95 % interval", "settings"), scores),
            samples,
        ]
    )
