"""Draws and judges saved data: after a measurement, and again after a change of a picture or of a verdict."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from bytenet.errors import InputError
from bytenet.reproduction.engine.experiment import Experiment, Scale, Table
from bytenet.reproduction.engine.results import ResultFiles, read_record, read_table, write_record
from bytenet.reproduction.engine.verdict import Verdict

_UNFIT = (ArithmeticError, LookupError, TypeError, ValueError)
"""What drawing and judging raise for data that they do not fit: a cell of another type, or a row that is missing."""


def redraw_all(
    experiments: Sequence[Experiment], scale: Scale, results: Path, say: Callable[[str], None]
) -> tuple[dict[str, list[Verdict]], dict[str, str]]:
    """Draw and judge several experiments again, as `redraw`.

    Returns:
        The verdicts, by the name of the experiment; and the reasons of failures, such as a damaged result, by name.
    """
    verdicts: dict[str, list[Verdict]] = {}
    failures: dict[str, str] = {}
    for experiment in experiments:
        with collected(failures, experiment, say):
            verdicts[experiment.name] = redraw(experiment, scale, results)
    return verdicts, failures


def redraw(experiment: Experiment, scale: Scale, results: Path) -> list[Verdict]:
    """Draw and judge again from saved data.

    Args:
        experiment: the experiment.
        scale: its scale.
        results: folder of the results.

    Raises:
        MissingFileError: there is no data.
        InputError: a file is damaged, or an older version of the experiment wrote it.
    """
    files = ResultFiles(results, experiment.name, scale)
    table, record = read_table(files.data), read_record(files)
    try:
        verdicts = draw_and_judge(experiment, table, files)
    except InputError:
        raise
    except _UNFIT as error:
        paths = " and ".join(map(str, (files.data, *_paths_beside(experiment, files).values())))
        raise InputError(
            f"{paths} cannot be drawn and judged: {error!r}. Perhaps an older version of {experiment.name} made other "
            "data, or a file is damaged. Measure it again, or bring it back."
        ) from error
    if record is not None:
        write_record(files, verdicts, record[1])
    return verdicts


def draw_and_judge(experiment: Experiment, table: Table, files: ResultFiles) -> list[Verdict]:
    """Draw the picture of an experiment, if it has one, and return its verdicts. The arguments are those of `judge`."""
    if experiment.plot is not None:
        experiment.plot(table, files.picture, *_tables_beside(experiment, files))
    return judge(experiment, table, files)


def judge(experiment: Experiment, table: Table, files: ResultFiles) -> list[Verdict]:
    """The verdicts of an experiment.

    Args:
        experiment: the experiment.
        table: its data.
        files: paths of its results. The data of the experiments in `Experiment.beside` lie in the same folder.
    """
    return experiment.verdicts(table, files.scale, *_tables_beside(experiment, files), **_settings(experiment, files))


def _settings(experiment: Experiment, files: ResultFiles) -> dict[str, Sequence[str] | None]:
    """The settings of the data, for experiments that judge by them. New data may have other settings than the code."""
    if not experiment.judges_settings:
        return {}
    record = read_record(files)
    return {"settings": record[1].get("differs_from_the_thesis") if record else None}


def _tables_beside(experiment: Experiment, files: ResultFiles) -> list[dict[str, Table]]:
    """The third argument of `verdicts` and `plot`; empty if the experiment needs none."""
    if not experiment.beside:
        return []
    paths = _paths_beside(experiment, files)
    return [{name: read_table(paths[name]) if name in paths else [] for name in experiment.beside}]


def _paths_beside(experiment: Experiment, files: ResultFiles) -> dict[str, Path]:
    """The data of the experiments in `Experiment.beside` that have any, by name."""
    paths = {name: ResultFiles(files.folder, name, files.scale).data for name in experiment.beside}
    return {name: path for name, path in paths.items() if path.is_file()}


@contextmanager
def collected(failures: dict[str, str], experiment: Experiment, say: Callable[[str], None]) -> Iterator[None]:
    """Report a failure of an experiment and keep its reason, so that the other experiments go on."""
    try:
        yield
    except (InputError, OSError) as error:
        failures[experiment.name] = str(error)
        say(f"{experiment.name}: {error}")
