"""What is verified, as data: one Node's formulas, and the library's functions for them."""

from __future__ import annotations

from collections.abc import Iterable

from msgspec import Raw, Struct

from gradmill.io.decoding import decode_json


class Tangent(Struct, frozen=True):
    """A formula for tangents: its function in the library, its outputs, and the inputs whose tangents it reads."""

    symbol: str
    outputs: tuple[str, ...]
    inputs: tuple[str, ...]


NOT_COMPILED = "does not compile"  # why formulas are not checked


class Subject(Struct, frozen=True):
    """The formulas of one Node, or of one operator without a backward formula."""

    name: str  # the Node, or the operator
    operator: str  # with overload and namespace: `aten::mul.Tensor`
    entry: str  # of derivatives.yaml
    schema: str
    formulas: tuple[tuple[str, str], ...]  # as written: the key, the text
    inputs: tuple[str, ...]  # the arguments with a backward formula
    outputs: tuple[str, ...]
    differentiable: tuple[bool, ...]  # of each output
    read: tuple[bool, ...]  # of each output, whether a backward formula reads its gradient
    not_implemented: tuple[str, ...]  # of `inputs`: the formula only raises an error
    backward: str  # its function in the library; "" if there is none
    tangents: tuple[Tangent, ...]
    inplace: bool = False
    variants: tuple[str, ...] = ()  # other functions that use the same formulas
    key: str = "Default"  # the dispatch key
    real_only: bool = False  # whether its kernel refuses gradients of complex outputs


def names_of(node: str, operators: Iterable[str]) -> set[str]:
    """What formulas are called: their Node, their operators with and without overload."""
    return {name for operator in operators for name in (operator, operator.partition(".")[0])} | {node}


class Code(Struct, frozen=True):
    """The C++ of a subject: its functions. The text is the same for every subject that
    has it, whatever its place in the file."""

    subject: Subject
    text: str
    digest: str  # of all that decides the verdict, but torch

    @property
    def names(self) -> set[str]:
        """What the formulas are called."""
        return names_of(self.subject.name, (self.subject.operator.partition("::")[2], *self.subject.variants))


class Finding(Struct, frozen=True):
    """Something wrong: which check found it, about which input or output, at which arguments."""

    check: str
    name: str
    computed: str
    expected: str
    input: str
    source: str = ""  # of the sample
    point: str = ""  # what is special about it
    doubtful: bool = False  # it may be a convention


class Tried(Struct, frozen=True, omit_defaults=True):
    """A sample: the values of arguments, where it is from, what is special about it; the checks that were done, and the
    reasons why others were left out."""

    input: str
    source: str
    point: str = ""
    checks: tuple[str, ...] = ()
    skipped: tuple[str, ...] = ()


class Verdict(Struct, frozen=True, omit_defaults=True):
    """What the checks of one Node's formulas found. `unchecked`: why there were none."""

    name: str
    samples: dict[str, int] = {}  # by kind
    done: dict[str, int] = {}  # the samples that each check has done
    skipped: dict[str, int] = {}  # the reasons why checks were left out
    tried: Raw = Raw(b"[]")  # the samples as JSON: most of a verdict, which few read
    findings: tuple[Finding, ...] = ()
    shared: tuple[Finding, ...] = ()  # what torch's own formula has as well, at samples that are not torch's
    unchecked: str = ""
    transient: bool = False  # whether it may be another next time, as one that was cut short: it is not remembered
    files: dict[str, str] = {}  # that `helpers=` includes and `python=` loads, with digests of their contents

    @property
    def samples_tried(self) -> list[Tried]:
        """The samples, in their order."""
        return decode_json(bytes(self.tried), list[Tried])

    @property
    def wrong_as_torchs(self) -> list[Finding]:
        """What differences decide, and torch's own formula has as well, if nothing else was found."""
        return [] if self.findings else [each for each in self.shared if not each.doubtful]

    @property
    def reason(self) -> str:
        """Why it is not checked; "" if it is."""
        if self.unchecked or self.findings:
            return self.unchecked
        if self.done.get("gradient") or self.done.get("tangents"):
            return ""
        return next(iter(self.skipped), "no sample of this operator is known, and none could be made from its schema")
