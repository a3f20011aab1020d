"""Changed settings without effect are named."""

import pytest

from bytenet.config import load_config, preset_names
from bytenet.config.settings_without_effect import settings_without_effect


@pytest.mark.parametrize(
    ("overrides", "sentence"),
    [
        (
            ["data.batch_chars=2560", "data.batch_size=8"],
            "data.batch_size 8 has no effect, because data.batch_chars is 2560. Change data.batch_chars, or set it to "
            "null.",
        ),
        (
            ["training.decay_factor=0.1", "training.decay_start_epoch=2"],
            "training.decay_factor 0.1 and training.decay_start_epoch 2.0 have no effect, because training.schedule is "
            "constant.",
        ),
        (
            ["training.schedule=step", "training.plateau_patience=2"],
            "training.plateau_patience 2 has no effect, because training.schedule is step.",
        ),
        (
            ["training.schedule=plateau", "training.plateau_rule=fast", "training.plateau_patience=2"],
            "training.plateau_patience 2 has no effect, because training.plateau_rule is fast.",
        ),
        (
            ["training.final_learning_rate=1e-5"],
            "training.final_learning_rate 1e-05 has no effect, because training.schedule is constant.",
        ),
        (
            ["model.source_attention=full", "model.attention_radius=8", "model.attention_slope=2"],
            "model.attention_radius 8 and model.attention_slope 2.0 have no effect, because model.source_attention is "
            "full.",
        ),
        (
            ["model.family=recurrent", "model.variant=bahdanau", "model.score=dot"],
            "model.score dot has no effect, because model.decoder is bahdanau.",
        ),
        (
            ["model.family=recurrent", "model.window_radius=3"],
            "model.window_radius 3 has no effect, because model.window is global.",
        ),
        (
            ["model.family=recurrent", "model.max_positions=40"],
            "model.max_positions 40 has no effect, because model.score is general.",
        ),
        (
            ["model.family=recurrent", "model.attention_dim=40"],
            "model.attention_dim 40 has no effect, because model.score is general.",
        ),
        (
            ["model.family=recurrent", "model.variant=cho", "model.attention_dim=40"],
            "model.attention_dim 40 has no effect, because model.decoder is cho.",
        ),
        (
            ["model.family=recurrent", "model.cell_activation=relu"],
            "model.cell_activation relu has no effect, because model.encoder_cell is lstm.",
        ),
        (
            ["model.family=recurrent", "model.meeting=end"],
            "model.meeting end has no effect, because model.directions is forward.",
        ),
        (
            ["model.family=transformer", "model.max_positions=40"],
            "model.max_positions 40 has no effect, because model.positions is sinusoidal.",
        ),
        (
            ["model.length_rule=pair", "model.unfold_scale=3"],
            "model.unfold_scale 3.0 has no effect, because model.length_rule is pair.",
        ),
        (
            [
                "evaluation.continuous_every_seconds=null",
                "evaluation.smoothing=0.5",
                "evaluation.continuous_train=true",
            ],
            "evaluation.continuous_train true and evaluation.smoothing 0.5 have no effect, because "
            "evaluation.continuous_every_seconds and evaluation.continuous_every_steps are null.",
        ),
    ],
)
def test_setting_is_named_with_the_reason(overrides, sentence):
    assert list(settings_without_effect(load_config("digits", ["training.schedule=constant", *overrides]))) == [
        sentence
    ]


@pytest.mark.parametrize(
    "overrides",
    [
        ["data.batch_chars=null", "data.batch_size=8"],
        ["training.schedule=step", "training.decay_factor=0.1", "training.decay_start_epoch=2"],
        ["training.schedule=plateau", "training.plateau_patience=2", "training.final_learning_rate=1e-5"],
        ["model.source_attention=window", "model.attention_radius=8"],
        ["model.family=recurrent", "model.variant=luong", "model.score=dot", "model.unfold_scale=3"],
        ["model.family=recurrent", "model.score=location", "model.max_positions=40"],
        ["model.family=recurrent", "model.score=concat", "model.attention_dim=40"],
        ["model.family=recurrent", "model.variant=bahdanau", "model.attention_dim=40"],
        ["model.family=recurrent", "model.decoder_cell=rnn", "model.encoder_cell=rnn", "model.cell_activation=relu"],
        ["model.family=transformer", "model.positions=learned", "model.max_positions=40"],
        ["evaluation.smoothing=0.5"],
        ["evaluation.continuous_every_seconds=null", "evaluation.continuous_every_steps=5", "evaluation.smoothing=0.5"],
    ],
)
def test_settings_with_an_effect_are_not_named(overrides):
    assert not list(settings_without_effect(load_config("digits", overrides)))


@pytest.mark.parametrize("preset", preset_names())
def test_presets_have_no_settings_without_effect(preset):
    files = ["data.train_source=a", "data.train_target=b"] if preset.startswith("pairs-") else []
    assert not list(settings_without_effect(load_config(preset, files)))
