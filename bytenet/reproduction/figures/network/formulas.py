"""The thesis's formulas for the number of weights of a block."""

from bytenet.reproduction.engine.experiment import Table
from bytenet.reproduction.figures.shared.cells import rows_where

DIMS = {"bytenet": 400, "simplified": 200}
NUM_BLOCKS = 15


def encoder_weights(width: float) -> float:
    """Kernel weights of an encoder block of input width D with k = 5: the thesis's equation 2.6.1."""
    return (5 / 4 + 1) * width**2


def decoder_weights(width: float) -> float:
    """Kernel weights of a decoder block of input width D with k = 5: the thesis's equation 2.6.2."""
    return ((5 + 1) / 8 + 1) * width**2


FORMULAS = {
    "encoder block": ("(k/4 + 1) D²", encoder_weights),
    "decoder block": ("((k + 1)/8 + 1) D²", decoder_weights),
}


def weights_of_blocks(variant: str, width: float) -> float:
    """Kernel weights of an encoder block and a decoder block with k = 5, by the thesis's formulas for ByteNet.

    Simplified ByteNet has only the dilated convolution, which works on the whole width. The decoder is twice as wide.
    """
    if variant == "simplified":
        return 5 * width**2 + 3 * (2 * width) ** 2
    return encoder_weights(width) + decoder_weights(2 * width)


def ratio_text(table: Table) -> str:
    """Two lines with the kernel weights of all blocks of Simplified ByteNet over those of ByteNet."""
    sums = {
        variant: sum(
            int(row["kernel_weights"])
            for row in rows_where(table, model=variant, dim=dim)
            if str(row["part"]).startswith(("encoder,", "decoder,"))
        )
        for variant, dim in DIMS.items()
    }
    ratio = sums["simplified"] / sums["bytenet"]
    return (
        f"All blocks, weights of Simplified ByteNet (d = 200) over ByteNet's (d = 400): {ratio:.3f}\n"
        "thesis: 4/9 by section 3.4 (5/9 times fewer), 5/9 by chapter 4"
    )
