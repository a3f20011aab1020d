"""The thesis's formulas of the weights of a block."""

from bytenet.reproduction.engine.experiment import Table

DIMS = {"bytenet": 400, "simplified": 200}
NUM_BLOCKS = 15
# Kernel weights of a block of input width D by the thesis's equations 2.6.1 and 2.6.2, k = 5.
FORMULAS = {
    "encoder block": ("(k/4 + 1) D²", lambda width: (5 / 4 + 1) * width**2),
    "decoder block": ("((k + 1)/8 + 1) D²", lambda width: ((5 + 1) / 8 + 1) * width**2),
}


def ratio_text(table: Table) -> str:
    """The kernel weights of all blocks of Simplified over ByteNet's."""
    sums = {
        variant: sum(
            int(row["kernel_weights"])
            for row in table
            if (row["model"], row["dim"]) == (variant, dim) and str(row["part"]).startswith(("encoder,", "decoder,"))
        )
        for variant, dim in DIMS.items()
    }
    ratio = sums["simplified"] / sums["bytenet"]
    return f"All blocks, weights of Simplified ByteNet (d = 200) over ByteNet's (d = 400): {ratio:.3f}; thesis: 5/9"
