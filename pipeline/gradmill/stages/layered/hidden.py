"""Checks of hidden outputs, which a description names: `add.hidden_outputs` and `add.hidden_kernels`."""

from __future__ import annotations

from collections.abc import Iterator

from gradmill.cpp import identifiers
from gradmill.model.native import NativeFunction
from gradmill.problems.problem import nearest
from gradmill.query.database import Database
from gradmill.rules.derivatives.hidden import Hidden, function_errors, hidden_of, hidden_outputs
from gradmill.rules.native.heads import qualified
from gradmill.specs.layers.description import Description
from gradmill.stages.infos import info_of, rows
from gradmill.stages.layered.problem import DescriptionProblem, Path
from gradmill.stages.schemas import all_heads, function
from gradmill.stages.set import described, hidden_facts, place_of_key, release_for


def check_hidden(db: Database, description: Description) -> Iterator[DescriptionProblem]:
    """The errors in hidden outputs that only their functions show."""
    for place, facts in enumerate(description.facts):
        outputs = facts.add.get("hidden_outputs", {})
        for name, value in outputs.items() if isinstance(outputs, dict) else ():
            path = ("facts", str(place), "add", "hidden_outputs", name)
            for _, native in _functions(db, name):
                for error in function_errors(native, value):
                    yield DescriptionProblem(path, error.problem, error.hint, error.needle, follows=True)


def unused_hidden(db: Database, path: Path, field: str, name: str) -> Iterator[DescriptionProblem]:
    """The warnings about hidden outputs of a function: it does not exist, or no formula of it uses them; and about a
    kernel that returns none."""
    functions = _functions(db, name)
    if not functions:
        known = sorted({known for _, head in all_heads(db) for known in (head.name, qualified(head))})
        hint = nearest(name, known) or "name an operator of this release with its overload"
        yield DescriptionProblem(
            path, f"there is no function '{name}'", hint, name, follows=True, suspected="unmatched-fact"
        )
    for key, native in functions:
        hidden = hidden_outputs(native, release_for(db, native))
        if not hidden:
            problem = f"'{name}' has no hidden outputs"
            hint = "name them: add.hidden_outputs"
            yield DescriptionProblem(path, problem, hint, name, follows=True, suspected="unmatched-fact")
        formulas = _formulas(db, key) if field == "hidden_outputs" else []
        for each in hidden if field == "hidden_outputs" else ():
            if not any(identifiers.uses(formula, each.name) for formula in formulas):
                problem = f"no formula of '{name}' uses '{each.name}'"
                hint = "use it in its derivatives, or remove it"
                yield DescriptionProblem(path, problem, hint, each.name, follows=True, suspected="unmatched-fact")


def all_hidden(db: Database, operator: str) -> list[Hidden]:
    """The hidden outputs of an operator, which has its overload, in any namespace; each name once."""
    facts = hidden_facts.item(db, operator)
    return hidden_of(facts.outputs.values()) if facts is not None else []


def place_of_hidden(db: Database, operator: str, name: str) -> tuple[str, Path] | None:
    """The key of a description and the path in it that names a hidden output of an operator, which has its overload and
    no namespace; None if none does."""
    layers = described(db)
    for place, facts in enumerate(layers.description.facts if layers is not None else ()):
        outputs = facts.add.get("hidden_outputs", {})
        for key, value in outputs.items() if isinstance(outputs, dict) else ():
            if key.rpartition("::")[2] == operator and name in value.replace(",", " ").split():
                return place_of_key(db, ("facts", str(place), "add", "hidden_outputs", key))
    return None


def _functions(db: Database, name: str) -> list[tuple[str, NativeFunction]]:
    """The functions of a name, which may have its namespace, each with its key."""
    keys = [key for key, head in all_heads(db) if name in (head.name, qualified(head))]
    found = ((key, function(db, key)) for key in keys)
    return [(key, native) for key, native in found if native is not None]


def _formulas(db: Database, key: str) -> list[str]:
    """The backward and forward formulas of a function, as written."""
    found = [info_of(db, row) for row in rows(db) if row.function == key and not row.is_copy]
    return [
        *(d.original_formula for own in found for d in own.derivatives),
        *(d.formula for own in found for d in own.forward_derivatives),
    ]
