"""Files of backends with mutations, right and wrong ones."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from random import Random

ODD = (
    "null",
    "yes",
    "1",
    "1.5",
    "''",
    "[]",
    "{}",
    "{abs: 1}",
    "[abs]",
    "abs",
    "a::b::c",
    "*a",
    "'add.Tensor '",
    "2020-01-01",
)
KEYS = ("XLA", "Lazy", "HPU", "MTIA", "XPU", "MPS", "CPU", "Meta", "SparseXPU", "NestedTensorXPU", "Autograd", "XLAs")
FILE_KEYS = ("class_name", "device_guard", "use_out_as_primary", "full_codegen", "ir_gen", "extra_headers", "supports")

Lines = list[str]


class Mutations:
    """Mutations of the file of a backend. `operators`: the names of functions, to list some."""

    def __init__(self, text: str, operators: Sequence[str]) -> None:
        self._lines, self._operators = text.splitlines(), operators
        self._kinds: tuple[Callable[[Lines, Random], None], ...] = (
            *[self._listed] * 4,
            *[self._moved] * 2,
            self._removed,
            self._repeated,
            self._indented,
            self._changed,
            self._valued,
            self._keyed,
            self._on_key,
        )

    def of(self, seed: int) -> str:
        """The file with one or two mutations."""
        random, lines = Random(seed), list(self._lines)
        for _ in range(random.randint(1, 2)):
            random.choice(self._kinds)(lines, random)
        return "\n".join(lines) + "\n"

    def _listed(self, lines: Lines, random: Random) -> None:
        """One to five more operators of a list."""
        at = random.choice([at for at, line in enumerate(lines) if line.startswith("  - ")] or [0])
        lines[at:at] = [f"  - {name}" for name in random.sample(self._operators, random.randint(1, 5))]

    def _moved(self, lines: Lines, random: Random) -> None:
        lines.insert(random.randrange(len(lines)), lines.pop(random.randrange(len(lines))))

    def _removed(self, lines: Lines, random: Random) -> None:
        del lines[random.randrange(len(lines))]

    def _repeated(self, lines: Lines, random: Random) -> None:
        lines.insert(random.randrange(len(lines)), random.choice(lines))

    def _indented(self, lines: Lines, random: Random) -> None:
        at = random.randrange(len(lines))
        lines[at] = random.choice((f"  {lines[at]}", lines[at].strip()))

    def _changed(self, lines: Lines, random: Random) -> None:
        at = random.randrange(len(lines))
        where = random.randrange(len(lines[at]) + 1)
        lines[at] = lines[at][:where] + random.choice("aZ_0 .:-#'[{") + lines[at][where + random.randint(0, 1) :]

    def _valued(self, lines: Lines, random: Random) -> None:
        """An odd value of a key, or of an item."""
        at = random.randrange(len(lines))
        sign = ": " if ": " in lines[at] else "- " if "- " in lines[at] else ":"
        lines[at] = f"{lines[at].partition(sign)[0]}{sign} {random.choice(ODD)}"

    def _keyed(self, lines: Lines, random: Random) -> None:
        """One more key of the file."""
        starts = [at for at, line in enumerate(lines) if line[:1].isalpha()] or [0]
        value = random.choice(("true", "false", "\n  - exp", *ODD))
        lines.insert(random.choice(starts), f"{random.choice(FILE_KEYS)}: {value}")

    def _on_key(self, lines: Lines, random: Random) -> None:
        """Another dispatch key."""
        lines[:] = [f"backend: {random.choice(KEYS)}" if line.startswith("backend:") else line for line in lines]
