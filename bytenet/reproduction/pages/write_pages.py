"""Writes all pages on the results."""

from pathlib import Path

from bytenet.errors import InputError
from bytenet.files import write_text_atomic
from bytenet.reproduction.pages.chapter_page import chapter_page, relative
from bytenet.reproduction.pages.chapters import CHAPTERS, chapter_of
from bytenet.reproduction.pages.differences import differences_page
from bytenet.reproduction.pages.overview_page import overview_page
from bytenet.reproduction.pages.published_result import common_conditions, read_result
from bytenet.reproduction.registry import all_experiments

_DIFFERENCES = "thesis-and-code.md"


def write_pages(path: Path, folder: Path) -> None:
    """Write the overview, a page for each chapter with results, and `thesis-and-code.md` beside the overview.

    Args:
        path: path of the overview.
        folder: folder of the results that `bytenet reproduce` saved. The pages of the chapters go there, too.

    Raises:
        InputError: the record of a result is damaged, or `path` is that of the second page.
    """
    if path.name == _DIFFERENCES:
        raise InputError(f"{path.name} is the name of the second page. Give --page another name.")
    path.parent.mkdir(parents=True, exist_ok=True)
    experiments = all_experiments()
    results = [result for experiment in experiments if (result := read_result(experiment, folder)) is not None]
    common = common_conditions(results)
    write_text_atomic(path, overview_page(experiments, results, common, f"{relative(folder, path.parent)}/"))
    for chapter in CHAPTERS:
        of_chapter = [result for result in results if chapter_of(result.experiment.name) is chapter]
        if of_chapter:
            write_text_atomic(folder / chapter.file_name, chapter_page(chapter, of_chapter, path, folder, common))
    write_text_atomic(path.with_name(_DIFFERENCES), differences_page(path.name))
