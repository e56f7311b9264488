"""Text overrides: a description replaces text of a unit, wraps its pieces, and chooses pieces for slots."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from msgspec import Struct

from gradmill.cpp.view_funcs import view_func, view_func_macro
from gradmill.families.family import ATEN, DECLARATION, DEFINITION, REGISTRATION, library_piece
from gradmill.families.family import Family as Kind
from gradmill.model.layers import Words
from gradmill.specs.layers.description import Family, Slot

WORDS = ("all", "own", "defined", "out")
REST = "rest"  # in slots: the units that no other slot selects for the same piece

# How a unit's text calls its own function, or the functional variant. PyTorch declares none of these for a vendor's
# function; the replacement of each, in the namespace that declares it.
CALLS = {
    **dict.fromkeys(
        [f"at::redispatch::${{function}}{suffix}(" for suffix in ("", "_outf", "_symint", "_symint_outf")],
        "_ops::${name}::redispatch(",
    ),
    **dict.fromkeys([f"at::${{base}}{suffix}(" for suffix in ("", "_symint")], "_ops::${functional}::call("),
    "at::_ops::${name}::": "_ops::${name}::",
    "at::functionalization::FunctionalInverses::${name}_inverse(": "${name}_inverse(",  # of a view, as is
    "at::functionalization::InverseReturnMode::": "InverseReturnMode::",
}


class FunctionFacts(Struct, frozen=True, gc=False, array_like=True):
    """The names of a function and the words that are true of it: what the selections of a description test."""

    operator: str  # `add_.Tensor`
    base: str  # `add`
    namespace: str
    words: tuple[str, ...]
    kernel: str = ""  # the name of its kernels, if another namespace has a function of the same name

    def matches(self, of: Words, also: str = "") -> bool:
        """Whether a selection includes the function: words that must all be true, or a list of operators. `also`: a
        word that is true here."""
        if isinstance(of, tuple):
            return self.operator in of or f"{self.namespace}::{self.operator}" in of
        return all(word in self.words or word in ("all", also) for word in of.split())

    @property
    def names(self) -> dict[str, str]:
        """The values of `${…}` in the text of rules."""
        name, _, overload = self.operator.partition(".")
        return {
            "operator": self.operator,
            "name": f"{name}_{overload}" if overload else name,
            "function": name,
            "overload": overload,
            "base": self.base,
            "functional": f"{self.base}_{overload}" if overload else self.base,
            "namespace": self.namespace,
        }


def key_of(file: str, hole: str) -> str:
    """The name under which the pieces of a unit have the piece for a slot."""
    return f"{file}/{hole}"


def replaced(
    kind: Kind, pieces: Mapping[str, str], rules: Family, facts: FunctionFacts
) -> tuple[dict[str, str], list[int]]:
    """The pieces of a unit after the description's replacements, and the places of those that change one."""
    current, applied = dict(pieces), []
    if facts.namespace != ATEN and kind.unit != "Node":  # a Node has formulas, and none of these names
        current = {piece: _in_namespace(text, facts) for piece, text in pieces.items()}
    for place, rule in enumerate(rules.replace):
        old = filled(rule.from_, facts)  # may be empty: not every operator has an overload
        if old and facts.matches(rule.of) and any(old in text for text in current.values()):
            current = {name: text.replace(old, filled(rule.to, facts)) for name, text in current.items()}
            applied.append(place)
    return current, applied


def calls_in(pieces: Mapping[str, str], facts: FunctionFacts) -> list[str]:
    """Which of `CALLS` of a function are in the pieces of its unit."""
    text = "\n".join(pieces.values())
    texts = {call: filled(call, facts) for call in CALLS}
    return [call for call, own in texts.items() if own in text and re.search(rf"(?<!\w){re.escape(own)}", text)]


def _in_namespace(text: str, facts: FunctionFacts) -> str:
    """The text of a kernel or of a ViewFunc for a function of another namespace. Upstream has no such functions."""
    text = text.replace('full_name("aten::', f'full_name("{facts.namespace}::')
    if facts.kernel:
        own = f"{facts.namespace}_{facts.kernel}"
        text = text.replace(f" {facts.kernel}(c10::DispatchKeySet ks", f" {own}(c10::DispatchKeySet ks")
        text = text.replace(f"::{facts.kernel})", f"::{own})")
        for called in (view_func, view_func_macro):
            text = text.replace(called(facts.operator), called(f"{facts.namespace}_{facts.operator}"))
    return text


def filled(text: str, facts: FunctionFacts) -> str:
    """A text of a rule with the names of a function."""
    if "${" in text:
        for name, value in facts.names.items():
            text = text.replace(f"${{{name}}}", value)
    return text


def slots(pieces: Mapping[str, str], rules: Family, facts: FunctionFacts) -> Iterator[tuple[str, str]]:
    """The pieces of a unit for the slots of its rules, each with the name under which the unit has it."""
    by_file = {"": rules.slots, **{name: own.slots for name, own in rules.file.items()}}
    named = ((file, hole, value) for file, own in by_file.items() for hole, value in own.items())
    listed = [(file, hole, Slot(value) if isinstance(value, str) else value) for file, hole, value in named]
    of_pieces = [each for each in listed if each[2].piece]
    selected = {(file, slot.piece) for file, _, slot in of_pieces if facts.matches(slot.of)}
    for file, hole, slot in of_pieces:
        rest = "" if (file, slot.piece) in selected else REST
        if facts.matches(slot.of, rest) and (text := piece_of(pieces, slot.piece)):
            yield key_of(file, hole), f"{filled(slot.before, facts)}{text}{filled(slot.after, facts)}"


def piece_of(pieces: Mapping[str, str], name: str) -> str:
    """A piece by its name. Pieces by dispatch key are joined; the declaration of a kernel is its head."""
    if name in pieces:
        return pieces[name]
    if name == DECLARATION:
        heads = [text.partition(" {\n")[0] for piece, text in pieces.items() if piece.startswith(DEFINITION)]
        return "".join(f"{head};\n" for head in heads if head)
    return "".join(text for piece, text in pieces.items() if piece.startswith(f"{name} "))


def elsewhere(pieces: Mapping[str, str], facts: FunctionFacts) -> dict[str, str]:
    """The registrations of a function, moved to the library of its namespace."""
    moved = [piece for piece in pieces if piece.startswith(REGISTRATION)]
    return dict.fromkeys(moved, "") | {library_piece(piece, facts.namespace): pieces[piece] for piece in moved}
