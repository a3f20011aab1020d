"""ConvS2S: the sizes of published models, and sizes that do not fit together."""

import pytest

from bytenet.config.families.convs2s import ConvS2SConfig

from .parameter_counts import unallocated_model

TINY = {
    "dim": 4, "encoder_widths": (6, 6), "encoder_kernel_sizes": (3, 3), "decoder_widths": (6, 6),
    "decoder_kernel_sizes": (3, 3), "output_dim": 5, "max_positions": 8,
}  # fmt: skip
PAPER = [name for name in ConvS2SConfig.VARIANTS if name != "small"]


@pytest.mark.parametrize(
    ("settings", "vocab_size", "expected", "without_gains"),
    [({"max_positions": 512}, 100, 2_736_584, 2_730_852), (TINY, 10, 1_446, 1_347)],
)
def test_number_of_weights(settings, vocab_size, expected, without_gains):
    model = unallocated_model(ConvS2SConfig(**settings), vocab_size)
    assert model.count_params() == expected
    plain = unallocated_model(ConvS2SConfig(weight_normalization=False, **settings), vocab_size)
    assert plain.count_params() == without_gains


def expected_weights(config: ConvS2SConfig, vocab_size: int) -> int:
    """The number of weights by the sizes of all maps."""

    def linear(inputs, outputs, taps=1):
        return taps * inputs * outputs + 2 * outputs  # with bias and gain

    total = 2 * (vocab_size - 1 + config.max_positions) * config.dim
    for side, top in (("encoder", config.dim), ("decoder", config.output_dim)):
        widths, kernel_sizes = getattr(config, f"{side}_widths"), getattr(config, f"{side}_kernel_sizes")
        total += linear(config.dim, widths[0]) + linear(widths[-1], top)
        for below, width, kernel_size in zip((widths[0], *widths), widths, kernel_sizes, strict=False):
            total += linear(below, 2 * width, kernel_size)
            total += linear(below, width) if below != width else 0
            total += linear(width, config.dim) + linear(config.dim, width) if side == "decoder" else 0
    return total + linear(config.output_dim, vocab_size)


@pytest.mark.parametrize("variant", PAPER)
def test_number_of_weights_of_the_large_models(variant):
    config = ConvS2SConfig(variant=variant)
    model = unallocated_model(config, vocab_size=40_000)
    assert model.count_params() == expected_weights(config, 40_000)


def test_number_of_weights_of_a_published_model_for_words():
    """A well-known tutorial's model, with maps of each layer's own, and tables of 7,853 German and 5,893 English words.

    The tutorial shares the maps of attention, and has 37,351,173 weights.
    """
    config = ConvS2SConfig(
        dim=256, output_dim=256, encoder_widths=(512,) * 10, encoder_kernel_sizes=(3,) * 10,
        decoder_widths=(512,) * 10, decoder_kernel_sizes=(3,) * 10, max_positions=100, weight_normalization=False,
    )  # fmt: skip
    # It has a row for padding in each table, and its source has another vocabulary.
    count = unallocated_model(config, vocab_size=5_893).count_params() + 2 * 256 + (7_853 - 5_893) * 256
    assert count == 39_717_381
    assert count - 9 * (512 * 256 + 256 + 256 * 512 + 512) == 37_351_173


def test_layers_and_contexts_of_the_paper():
    def context(kernel_sizes):
        return sum(size - 1 for size in kernel_sizes) + 1

    layers = {variant: len(ConvS2SConfig(variant=variant).encoder_widths) for variant in PAPER[:5]}
    assert layers == {"wmt16_en_ro": 20, "wmt14_en_de": 15, "wmt14_en_fr": 15, "ablation": 13, "summarisation": 6}
    assert context(ConvS2SConfig(variant="wmt14_en_fr").encoder_kernel_sizes) == 27
    ablation = ConvS2SConfig(variant="ablation")
    assert context(ablation.encoder_kernel_sizes) == 27
    assert context(ablation.decoder_kernel_sizes) == 21


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"encoder_widths": (8, 8, 8)}, "encoder_widths has 3 items and encoder_kernel_sizes has 8"),
        ({"decoder_kernel_sizes": (3,)}, "decoder_widths has 6 items and decoder_kernel_sizes has 1"),
        ({"attention_layers": (7,)}, "different numbers from 1 to 6"),
        ({"attention_layers": (2, 1)}, "in ascending order"),
        ({"attention_layers": (2, 2)}, "different numbers"),
        ({"tied_embeddings": "softmax", "dim": 64}, "needs output_dim = dim, but they are 128 and 64"),
    ],
)
def test_sizes_that_do_not_fit_are_refused(settings, message):
    with pytest.raises(ValueError, match=message):
        ConvS2SConfig(**settings)
