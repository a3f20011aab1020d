"""Export to TensorFlow's SavedModel, which TensorFlow and TensorFlow Serving read without this package."""

import os

import tensorflow as tf

from bytenet.decoding.export.preparation import check_exportable, check_no_reranker
from bytenet.decoding.export.text_graph import TextGraph
from bytenet.decoding.translator import Translator
from bytenet.files import atomic_folder
from bytenet.output_paths import check_new_folder


def export_saved_model(translator: Translator, path: str | os.PathLike[str], jit_compile: bool = False) -> None:
    """Save a translator as a folder. Its signatures are `serving_default` and `n_best`, see `TextGraph`.

    A process that loads it needs `import tensorflow_text`, whose operation normalises the text.

    Args:
        translator: see `check_exportable`.
        path: of a folder that does not exist. It appears when it is complete.
        jit_compile: compile the search with XLA when it runs.

    Raises:
        InputError: the translator cannot be exported or has a reranker; there is something at `path`, its folder does
            not exist, or the disk is full.
    """
    check_exportable(translator)
    check_no_reranker(translator)
    check_new_folder(path)
    graph = TextGraph(translator, jit_compile)
    with atomic_folder(path) as partial:
        tf.saved_model.save(graph, partial, signatures={"serving_default": graph.translate, "n_best": graph.n_best})
