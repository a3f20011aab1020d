"""Runs with small untrained models."""

import gzip

BYTENET = ["model.dim=8", "model.num_sets=1", "model.dilations=[1, 2]"]
TRANSFORMER = [
    "model.family=transformer", "model.dim=8", "model.heads=2", "model.encoder_layers=1", "model.decoder_layers=2",
    "model.feed_forward_dim=8",
]  # fmt: skip

_SOURCES = ["ein Hund", "zwei Hunde", "ein Haus", "drei Häuser"]
_TARGETS = ["a dog", "two dogs", "a house", "three houses"]


def make_run(folder, overrides):
    import keras

    from bytenet.config import load_config
    from bytenet.datasets import Vocabulary
    from bytenet.models import build_model
    from bytenet.run_folder import RunFolder
    from bytenet.saved.keras_model import save_model

    settings = {"corpus": "files"}
    for side, lines in (("source", _SOURCES), ("target", _TARGETS)):
        path = folder / f"text.{side}.gz"
        path.write_bytes(gzip.compress("".join(f"{line}\n" for line in lines).encode()))
        settings |= {f"{split}_{side}": str(path) for split in ("train", "test")}
    overrides = [*overrides, *(f"data.{key}={value}" for key, value in settings.items()), "decoding.beam_size=3"]
    config_path = folder / "settings.yaml"
    config_path.write_text("{}\n")
    config = load_config(str(config_path), overrides)
    vocabulary = Vocabulary.from_texts(_SOURCES, _TARGETS)
    run = RunFolder.create(folder / "run", config, vocabulary)
    keras.utils.set_random_seed(1)
    save_model(build_model(config.model, vocabulary.size), run.model_path)
    return run
