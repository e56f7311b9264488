"""Which function a definition is for.

torchgen: `load_derivatives.create_differentiability_info`, `load_derivatives.canonical_function`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property

from gradmill.model.native import FunctionSummary
from gradmill.model.regex import regex
from gradmill.problems.names import Hint
from gradmill.problems.problem import SpecError, nearest

_NAMESPACE = regex(r"(\w+)::")


class Operators:
    """Functions that may share a definition, for lookup by schema and by signature.

    `grouped` are indices in the order of view groups. A lookup that fails suggests a near name: `names` returns the
    names of all functions, `everything` their heads.
    """

    def __init__(
        self,
        heads: Sequence[FunctionSummary],
        grouped: Sequence[int],
        names: Callable[[], Sequence[str]],
        everything: Callable[[], Sequence[FunctionSummary]],
    ) -> None:
        self.heads = heads
        self._names = names
        self._everything = everything
        self.by_schema = {head.schema: i for i, head in enumerate(heads)}
        # A schema without a namespace is PyTorch's, if PyTorch has it.
        self.by_schema |= {head.schema: i for i, head in enumerate(heads) if head.namespace == "aten"}
        self.by_signature: dict[str, list[int]] = {}
        for i in grouped:
            self.by_signature.setdefault(heads[i].signature, []).append(i)

    def canonical(self, schema: str, name: str) -> int:
        """Index of the function that a definition is for: `schema` is the one it names, `name` the operator's.

        Of all functions that share the schema's signature, the one with the entry's own name represents them, or the
        in-place variant if it is alone. Raises a SpecError if no function matches.
        """
        index = self.by_schema.get(schema)
        if index is None:
            index = self._named.get(schema)
        if index is None:
            raise self._unknown(schema, name)
        heads = self.heads
        group = self.by_signature[heads[index].signature]
        for i in group:
            head = heads[i]
            if head.unqualified != name or "functional" in head.name.partition(".")[2]:
                continue
            if head.kind not in ("out", "scratch"):
                return i
        if heads[group[0]].cpp_name != f"{name}_":
            problem, other = f"no variant of the op is called '{name}'", heads[group[0]]
            hint = f"define the derivative for {other.schema}"
            if group[0] == index:
                hint = f"also declare {other.signature}: '{other.name}' takes the derivative of that"
            raise SpecError(problem, hint, field=("name",))
        return group[0]

    @cached_property
    def _named(self) -> dict[str, int]:
        """The functions by schema with namespace, which few definitions use."""
        return {f"{head.namespace}::{head.schema}": i for i, head in enumerate(self.heads)}

    def _unknown(self, schema: str, name: str) -> SpecError:
        named = _NAMESPACE.match(schema)
        problem = f"no function in native_functions.yaml has the schema '{schema}'"
        variants = [head for head in self.heads if head.signature in (schema, f"{head.namespace}::{schema}")]
        if variants and all(head.kind == "out" for head in variants):
            hint = f"declare it: there is only its out variant, '{variants[0].name}'"
            return SpecError(problem, hint, field=("name",))
        if named is not None:
            return SpecError(problem, self._in_namespace(named.group(1), name), field=("name",))
        same_name = [head.schema for head in self.heads if head.cpp_name == name]
        near = nearest(schema, same_name)
        for head in self.heads:
            if head.cpp_name == name and (renamed := _renamed(schema, head.schema)):
                return _other_names(renamed, head, near)
        listed = f"schemas of that name: {'; '.join(same_name)}" if same_name else ""
        return SpecError(problem, near or listed or nearest(name, self._names()), field=("name",))

    def _in_namespace(self, namespace: str, name: str) -> str:
        """A hint for an operator that its namespace does not have."""
        heads = self._everything()
        spaces = sorted({head.namespace for head in heads})
        if namespace not in spaces:
            hint = nearest(namespace, spaces, what="did you mean the namespace")
            return hint or f"no function is in the namespace '{namespace}': there are {', '.join(spaces)}"
        own = [head for head in heads if head.namespace == namespace]
        schemas = [f"{namespace}::{head.schema}" for head in own if head.cpp_name == name]
        if schemas:
            return f"schemas of that name: {'; '.join(schemas)}"
        other = next((head for head in heads if head.cpp_name == name), None)
        hint = nearest(name, sorted({head.unqualified for head in own}))
        return hint or (f"'{other.namespace}' has one of that name" if other is not None else "")


_WORD = regex(r"\w+|\W")
_AFTER_NAME = ([","], [")"], ["="])  # what follows the name of an argument


def _renamed(schema: str, other: str) -> list[tuple[str, str]]:
    """The names of arguments that differ between two schemas, in pairs; none if the schemas differ in anything else."""
    words, others = _WORD.findall(schema), _WORD.findall(other)
    if len(words) != len(others):
        return []
    renamed = []
    for i, (word, named) in enumerate(zip(words, others)):
        if word != named:
            # A type is followed by a space, a name with a default by `=`.
            if not (word.isidentifier() and words[i - 1] == " " and words[i + 1 : i + 2] in _AFTER_NAME):
                return []
            renamed.append((word, named))
    return renamed if all(words.count(word) == 1 for word, _ in renamed) else []


def _other_names(renamed: Sequence[tuple[str, str]], head: FunctionSummary, hint: Hint) -> SpecError:
    """The error for a definition that names arguments differently from the function's schema."""
    word, named = renamed[0]
    names = ", ".join(f"'{theirs}', not '{ours}'" for ours, theirs in renamed)
    certain = hint.fix is not None and len(renamed) == 1
    error = SpecError(
        f"native_functions.yaml names the argument{'s' if len(renamed) > 1 else ''} {names}",
        "rename it in one of the two files, and in the formulas",
        field=("name",),
        needle=word,
        rule="renamed-argument",
        fix=(word, named) if certain else None,
    )
    error.see = head.schema, named
    return error
