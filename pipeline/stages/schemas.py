"""Stage `schemas`: the entries of native_functions.yaml and tags.yaml to native functions.

Reads two `SpecFile` artifacts; writes `Functions` and `Bodies`, with the functional, out and copy variants that
upstream generates, and the view groups. An entry whose value did not change is taken over from the previous artifact.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import msgspec
from msgspec import Raw

from pipeline.cpp.bindings import cpp_name
from pipeline.grammar.checks import check_schema
from pipeline.grammar.schema import SchemaParser
from pipeline.grammar.signature import signatures
from pipeline.model.artifact import digest, digest_of, encode
from pipeline.model.functions import Bodies, FunctionRow, Functions, FunctionTable
from pipeline.model.native import FunctionHead, NativeFunction, ViewKind
from pipeline.model.schema import is_tensor_like, schema_kind
from pipeline.model.specs import SpecFile
from pipeline.problems.problem import Problem, SpecError, problem_of
from pipeline.releases.model import Release
from pipeline.rules.derivatives.definition import no_such_key
from pipeline.rules.native.dispatch import IMPLICIT, IMPLICIT_NESTED
from pipeline.rules.native.entry import check_function, is_view, parse_entry
from pipeline.rules.native.generation import generate_functional, generate_out
from pipeline.rules.native.groups import (
    GroupError,
    ToGenerate,
    check_functions,
    check_view_group,
    group_variants,
    missing_variants,
    view_groups,
)


class Parsed(NamedTuple):
    functions: Functions
    bodies: Bodies
    problems: list[Problem]


def run(native: SpecFile, tags: SpecFile, release: Release, previous: FunctionTable | None) -> Parsed:
    """All functions that the two files define, and every mistake in them."""
    names, problems = read_tags(tags)
    builder = _Builder(release, previous)
    entries = builder.parse(native, frozenset(names), digest_of(sorted(names)), problems)

    def report(error: GroupError) -> None:
        entry = entries[builder.origin(error.function)]
        problem = problem_of(error, "native", entry, builder.rows[error.function].head.name)
        problems.append(msgspec.structs.replace(problem, derived=True))

    errors = check_functions(builder.heads)
    clashes: list[GroupError] = []
    errors += builder.generate()
    clashes += builder.kernel_clashes()
    grouped, copies, in_views = builder.group_views()
    twice = {builder.heads[error.function].signature for error in clashes}
    seen: set[int] = set()
    for error in clashes + [e for e in errors + in_views if builder.heads[e.function].signature not in twice]:
        if error.function not in seen:
            report(error)
        seen.add(error.function)
    functions = Functions(tuple(builder.rows), grouped, copies)
    bodies = Bodies(builder.bodies)
    bodies.decoded.update(builder.decoded)
    return Parsed(functions, bodies, problems)


def read_tags(tags: SpecFile) -> tuple[list[str], list[Problem]]:
    """The tags that tags.yaml declares; each must have a description."""
    names = []
    problems = []
    for i, entry in enumerate(tags.entries):
        value = entry.decode()
        name = value.get("tag") if isinstance(value, dict) else None
        try:
            names.append(_tag_name(value))
        except SpecError as error:
            problems.append(problem_of(error, "tags", i, str(name or "")))
            if isinstance(name, str):
                names.append(name)  # it is known, if not described
    return names, problems


def _tag_name(value: object) -> str:
    if not isinstance(value, dict):
        raise SpecError("not a mapping", "write - tag: name")
    if "tag" not in value:
        raise no_such_key(value, "tag", "the entry declares no tag", "write tag: name")
    if not isinstance(value["tag"], (str, int, float)) and value["tag"] is not None:
        raise SpecError(f"the tag is no name: {value['tag']!r}", field=("tag",))
    if value.get("desc", "") == "":
        raise SpecError(f"tag '{value['tag']}' has no description", "add desc: …", field=("tag",))
    return str(value["tag"])


class _Builder:
    """The rows of the artifact while they grow."""

    def __init__(self, release: Release, previous: FunctionTable | None) -> None:
        self._release = release
        self._parser = SchemaParser(frozenset(release.base_types))
        self._known = {row.key: row for row in previous.all.rows} if previous is not None else {}
        self._previous = previous
        self._origins: list[int] = []
        self.rows: list[FunctionRow] = []
        self.heads: list[FunctionHead] = []
        self.bodies: dict[bytes, Raw] = {}
        self.decoded: dict[bytes, NativeFunction] = {}

    def function(self, index: int) -> NativeFunction:
        name = self.heads[index].body
        known = self.decoded.get(name)
        if known is None:
            assert self._previous is not None
            known = self.decoded[name] = self._previous.bodies.function(name)
        return known

    def origin(self, index: int) -> int:
        """Index of the declared function that the one at `index` is, or was generated from."""
        return self._origins[index]

    def parse(self, native: SpecFile, tags: frozenset[str], tags_digest: bytes, problems: list[Problem]) -> list[int]:
        """Adds a row for every entry that is right; gives the entry's index for each row."""
        entries = []
        for i, entry in enumerate(native.entries):
            key = entry.digest + tags_digest
            if not self._take_over(key, len(self.rows)):
                try:
                    self._add(key, _parse(entry.decode(), tags, self._release, self._parser), len(self.rows))
                except SpecError as error:
                    problems.append(problem_of(error, "native", i, _op(entry.decode())))
                    continue
            entries.append(i)
        return entries

    def generate(self) -> list[GroupError]:
        """Adds the variants that upstream generates."""
        groups, errors = group_variants(self.heads)
        for group in groups:
            try:
                for wanted in missing_variants(group, self.heads, self._release):
                    self._generate(wanted)
            except GroupError as error:
                errors.append(error)
        return errors

    def _generate(self, wanted: ToGenerate) -> None:
        key = self.heads[wanted.base].body + wanted.kind.encode()
        if self._take_over(key, wanted.base):
            return
        make = generate_out if wanted.kind == "out" else generate_functional
        function = make(self.function(wanted.base), self._release.automatic_tags)
        try:
            check_schema(function.func)
            check_function(function, self._release)
        except SpecError as error:
            raise GroupError(
                wanted.base, f"its generated variant '{function.func}' is wrong: {error.problem}"
            ) from error
        self._add(key, function, wanted.base)

    def kernel_clashes(self) -> list[GroupError]:
        """Two ops of one name cannot both have a kernel for one dispatch key, nor can one schema stand twice."""
        by_name: dict[str, int] = {}
        errors = []
        for i, head in enumerate(self.heads):
            first = by_name.setdefault(head.name, i)
            if first == i:
                continue
            shared = set(self.function(first).dispatch) & set(self.function(i).dispatch)
            if shared or self.heads[first].schema == head.schema:
                errors.append(GroupError(i, f"operator '{head.name}' is declared twice", "use another overload name"))
        return errors

    def group_views(self) -> tuple[tuple[int, ...], dict[int, int], list[GroupError]]:
        """Indices in grouped order, views and their copies, and what is wrong with the groups."""
        groups, errors = view_groups(self.heads)
        for group in groups:
            try:
                check_view_group(group, self.heads)
            except GroupError as error:
                errors.append(error)
        copies = {g.view: g.copy for g in groups if g.view is not None and g.copy is not None}
        return tuple(i for group in groups for i in group.members), copies, errors

    def _take_over(self, key: bytes, origin: int) -> bool:
        found = self._known.get(key)
        if found is None:
            return False
        assert self._previous is not None
        self.bodies[found.head.body] = self._previous.bodies.rows[found.head.body]
        self.rows.append(found)
        self.heads.append(found.head)
        self._origins.append(origin)
        return True

    def _add(self, key: bytes, function: NativeFunction, origin: int) -> None:
        body = encode(function)
        head = head_of(function, digest(body))
        self.bodies[head.body] = Raw(body)
        self.decoded[head.body] = function
        self.rows.append(FunctionRow(key, head))
        self.heads.append(head)
        self._origins.append(origin)


def _parse(value: object, tags: frozenset[str], release: Release, parser: SchemaParser) -> NativeFunction:
    if not isinstance(value, Mapping):
        raise SpecError("not a mapping", "write - func: name(arguments) -> returns")
    function = parse_entry(value, tags, release, parser)
    if is_view(function) and function.func.name.inplace and "inplace_view" not in function.tags:
        raise SpecError(
            f"'{function.func.name}' is an in-place view but is not tagged so",
            "add tags: inplace_view",
            field=("func",),
        )
    return function


def head_of(function: NativeFunction, body: bytes) -> FunctionHead:
    """What others ask of `function`; `body` is the digest of the whole."""
    schema = function.func
    name = schema.name
    signature, plain = signatures(schema)
    view_kind: ViewKind = (
        "non_aliasing" if not is_view(function) else "aliasing_inplace" if name.inplace else "aliasing"
    )
    return FunctionHead(
        str(schema),
        str(name),
        cpp_name(schema),
        name.base,
        name.unqualified,
        schema_kind(schema),
        view_kind,
        signature,
        None if plain == signature else plain,
        body,
        function.structured_delegate,
        function.structured,
        "generated" in function.tags,
        "core" in function.tags,
        "inplace_view" in function.tags,
        "view_copy" in function.tags,
        function.manual_cpp_binding,
        IMPLICIT in function.dispatch,
        IMPLICIT_NESTED in function.dispatch,
        any("out" in name for name in function.autogen),
        any(is_tensor_like(r.type) for r in schema.returns),
    )


def _op(value: object) -> str:
    func = value.get("func") if isinstance(value, dict) else None
    return func.partition("(")[0] if isinstance(func, str) else ""
