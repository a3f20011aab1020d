"""When to compile a search with XLA."""

from collections import Counter
from collections.abc import Hashable
from typing import Literal

_WORK_THAT_PAYS = 75_000


class CompilationChoice:
    """Decides for each shape of batches whether its search is a plain graph or compiled with XLA.

    A row is a sentence or one of its beams. A compiled step is faster by 0.02 to 0.03 ms · (25 + rows). Compiling takes
    about two seconds longer than tracing. Both were measured on two CPU cores with a ByteNet of 30 blocks, d = 128; in
    a wider model both are larger. A shape is compiled as soon as its work, past and expected, reaches
    steps · (25 + rows) = 75,000. Single sentences reach it after about thirty, batches of 32 sentences with 10 beams
    after three. This rule takes at most about twice the time of the best choice.

    Args:
        jit_compile: "auto" for this rule; true or false to compile everything or nothing.

    Raises:
        ValueError: `jit_compile` has another value.
    """

    def __init__(self, jit_compile: bool | Literal["auto"]):
        if jit_compile not in (True, False, "auto"):
            raise ValueError(f'jit_compile is {jit_compile!r}; expected true, false or "auto".')
        self.jit_compile = jit_compile
        self._work: Counter[Hashable] = Counter()

    def expect(self, shape: Hashable, steps: int, rows: int) -> None:
        """Announce a search of `shape`, with up to `steps` steps of `rows` sentences or beams."""
        self._work[shape] += steps * (25 + rows)

    def compiles(self, shape: Hashable) -> bool:
        """Whether to compile the search of `shape`."""
        return self._work[shape] >= _WORK_THAT_PAYS if self.jit_compile == "auto" else self.jit_compile
