"""Each kind of model learns a small task: the acceptance test of the thesis's code, and the demo."""

import random
from pathlib import Path

import pytest

from bytenet.config import load_config
from bytenet.config.families import family_configs
from bytenet.config.families.recurrent import RecurrentConfig
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
RECURRENT = {variant: {"model.family": "recurrent", "model.variant": variant} for variant in RecurrentConfig.VARIANTS}
MODELS = {family: {"model.family": family} for family in family_configs()} | {
    "bytenet": BYTENET,
    "convs2s": CONVS2S,
    "transformer": TRANSFORMER,
    "simplified": BYTENET | {"model.variant": "simplified"},
    "selu": BYTENET | {"model.variant": "selu"},
    # "recurrent" is Luong's model. Those of Bahdanau and Madsen learn to reverse strings, below.
    **{variant: RECURRENT[variant] for variant in ("sutskever", "cho")},
}
# Models that attend to the source, with the number of epochs in which each learns to reverse strings.
REVERSING = {
    "convs2s": CONVS2S | {
        "model.output_dim": 32, "model.encoder_widths": "[32]", "model.decoder_widths": "[32]", "training.epochs": 25,
    },
    "transformer": TRANSFORMER | {"training.epochs": 25},
    **{variant: RECURRENT[variant] | {"training.epochs": 8} for variant in ("luong", "bahdanau", "madsen")},
}  # fmt: skip


def _train(folder: Path, pairs: dict[str, list[tuple[str, str]]], settings: dict[str, object]) -> RunFolder:
    """Train on the pairs of source and target of each split."""
    files = {}
    for split in pairs:
        for side, lines in zip(("source", "target"), zip(*pairs[split], strict=True), strict=True):
            path = folder / f"{split}.{side}"
            path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
            files[f"data.{split}_{side}"] = path
    settings = {
        "data.corpus": "files", "data.bucketing": "none", "training.learning_rate": 0.005,
        "training.jit_compile": "false", "evaluation.every_epochs": settings["training.epochs"],
        "evaluation.continuous_every_seconds": "null", **settings, **files,
    }  # fmt: skip
    (folder / "settings.yaml").write_text("{}\n", encoding="utf-8")
    config = load_config(folder / "settings.yaml", [f"{key}={value}" for key, value in settings.items()])
    return train(config, folder / "run")


@pytest.mark.parametrize(
    "model", [pytest.param(name, marks=() if name in family_configs() else pytest.mark.thorough) for name in MODELS]
)
def test_model_learns_digit_names_for_greedy_and_beam_search(model, tmp_path):
    """The training set has fifty pairs of a name and a digit."""
    pairs = list(zip(NAMES, DIGITS, strict=True))
    settings = {"model.dim": 20, "data.batch_size": 25, "training.epochs": 60}
    folder = _train(tmp_path, {"train": pairs * 5, "validation": pairs}, settings | MODELS[model])
    for beam_size in (1, 5):
        translator = Translator.from_run(folder, beam_size=beam_size)
        assert [best.text for [best] in translator.translate(NAMES)] == DIGITS


@pytest.mark.parametrize(
    "model",
    [
        # Luong's model and ConvS2S also learn digit names, above.
        pytest.param(name, marks=pytest.mark.slow if name in ("luong", "convs2s") else pytest.mark.thorough)
        for name in REVERSING
    ],
)
def test_model_with_attention_learns_to_reverse_strings_that_it_has_not_seen(model, tmp_path):
    """Nothing but the source tells how a random string goes on."""
    draw = random.Random(1)
    strings = ["".join(draw.choices("abcdefgh", k=draw.randint(3, 5))) for _ in range(2250)]
    known = set(strings[:2050])
    unseen = [string for string in strings[2050:] if string not in known]
    assert len(unseen) >= 100
    pairs = [(string, string[::-1]) for string in strings]
    settings = {"model.dim": 32, "data.batch_size": 50} | REVERSING[model]
    folder = _train(tmp_path, {"train": pairs[:2000], "validation": pairs[2000:2050]}, settings)
    translator = Translator.from_run(folder, beam_size=1)
    right = [best.text == string[::-1] for [best], string in zip(translator.translate(unseen), unseen, strict=True)]
    assert sum(right) >= 0.9 * len(unseen)


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_demo_translates_95_percent_of_held_out_numbers_correctly(tmp_path):
    config = load_config("numbers")
    folder = train(config, tmp_path / "run")
    evaluation = evaluate_run(folder, pairs_of_split(folder, "test"), "test", bootstrap=0)
    right = next(score for score in evaluation.scores if score.name == "exact-match")
    assert right.num_sentences == 1000
    assert right.value >= 0.95
