"""Each kind of model learns a small task: the acceptance test of the thesis's code, and the demo."""

import pytest

from bytenet.config import load_config
from bytenet.config.families import family_configs
from bytenet.decoding import Translator
from bytenet.evaluation import evaluate_run, pairs_of_split
from bytenet.run_folder import RunFolder
from bytenet.training import train

NAMES = ["zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine"]
DIGITS = [str(digit) for digit in range(10)]

# Width 20; one set of three blocks in each half of ByteNet.
BYTENET = {"model.num_sets": 1, "model.dilations": "[1, 2, 4]", "model.batch_norm_momentum": 0.9}
TRANSFORMER = {"model.family": "transformer", "model.encoder_layers": 1, "model.decoder_layers": 1}
CONVS2S = {
    "model.family": "convs2s", "model.output_dim": 20, "model.encoder_widths": "[20]", "model.decoder_widths": "[20]",
    "model.encoder_kernel_sizes": "[5]", "model.decoder_kernel_sizes": "[3]",
}  # fmt: skip
MODELS = {family: {"model.family": family} for family in family_configs()} | {
    "bytenet": BYTENET,
    "convs2s": CONVS2S,
    "transformer": TRANSFORMER,
    "simplified": BYTENET | {"model.variant": "simplified"},
    "selu": BYTENET | {"model.variant": "selu"},
}


@pytest.mark.parametrize(
    "model", [pytest.param(name, marks=() if name in family_configs() else pytest.mark.thorough) for name in MODELS]
)
def test_model_learns_digit_names_for_greedy_and_beam_search(model, tmp_path):
    """The training set has fifty pairs of a name and a digit."""
    files = {}
    for split, repeats in (("train", 5), ("validation", 1)):
        for side, lines in (("source", NAMES), ("target", DIGITS)):
            path = tmp_path / f"{split}.{side}"
            path.write_text("".join(f"{line}\n" for line in lines * repeats), encoding="utf-8")
            files[f"data.{split}_{side}"] = path
    settings = {
        "model.dim": 20, "data.corpus": "files", "data.batch_size": 25, "data.bucketing": "none",
        "training.epochs": 60, "training.learning_rate": 0.005, "training.jit_compile": "false",
        "evaluation.every_epochs": 60, "evaluation.continuous_every_seconds": "null", **MODELS[model],
    }  # fmt: skip
    (tmp_path / "settings.yaml").write_text("{}\n", encoding="utf-8")
    config = load_config(tmp_path / "settings.yaml", [f"{key}={value}" for key, value in (settings | files).items()])
    folder: RunFolder = train(config, tmp_path / "run")
    for beam_size in (1, 5):
        translator = Translator.from_run(folder, beam_size=beam_size)
        assert [best.text for [best] in translator.translate(NAMES)] == DIGITS


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_demo_translates_95_percent_of_held_out_numbers_correctly(tmp_path):
    config = load_config("numbers")
    folder = train(config, tmp_path / "run")
    evaluation = evaluate_run(folder, pairs_of_split(folder, "test"), "test", bootstrap=0)
    right = next(score for score in evaluation.scores if score.name == "exact-match")
    assert right.num_sentences == 1000
    assert right.value >= 0.95
