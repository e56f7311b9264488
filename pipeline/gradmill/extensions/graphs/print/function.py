"""Generates the C++ of one graph: its forward, its backward and Node, its wrapper."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from pathlib import Path

from gradmill.extensions.graphs.ir import Code, Do, Let, Return, Stmt, code, separated, uses, variable
from gradmill.extensions.graphs.passes.functionalize.names import identifier
from gradmill.extensions.graphs.passes.functionalize.program import values_of
from gradmill.extensions.graphs.passes.needs import Row
from gradmill.extensions.graphs.plan import GraphPlan
from gradmill.extensions.graphs.print import backward, forward, guards, wrapper
from gradmill.extensions.graphs.print.expressions import INITIAL, NUMBER_TYPES, by_name, tensor
from gradmill.extensions.graphs.print.saved import MEMBER_TYPES, needs_text, tensor_type
from gradmill.extensions.graphs.print.statements import lines
from gradmill.families.sections import Text
from gradmill.families.template import Value as Filled
from gradmill.releases.model import Release

TEXT = Text("../extensions/graphs/print/graph.cpp")
_TYPES = re.findall(r"(?m)^(?:struct|using) \$\{name\}_(\w+)", Path(__file__).with_name("graph.cpp").read_text("utf-8"))
_GENERATED = re.compile(rf"(\w+?)_(?:shared_\d+|(?:shared_\d+_)?(?:{'|'.join(_TYPES)}))")


def taken(functions: Iterable[str]) -> dict[str, str]:
    """The functions of a file that another one's C++ has a type, or a variant, of the name of; each with that one."""
    by_name = {identifier(each): each for each in functions}
    generated = ((each, _GENERATED.fullmatch(name)) for name, each in by_name.items())
    return {each: by_name[match[1]] for each, match in generated if match is not None and match[1] in by_name}


def function_text(plan: GraphPlan, release: Release) -> str:
    """The C++ of one graph, its branches and its variants."""
    return "".join(_text(each, release) for each in plan.functions)


def _text(plan: GraphPlan, release: Release) -> str:
    text, after = TEXT.of(release), wrapper.after_forward(plan)
    numbers = number_results(plan, after)
    body = [*forward.statements(plan), returned(plan, numbers, variable)]
    given = {**forward_values(plan, numbers, release, "namespace {"), "body": braced(body)}
    cpp = text["structs"].fill(given) + text["forward"].fill(given)
    if plan.has_backward:
        body = [*backward.declarations(plan), *backward.statements(plan), found(plan, variable)]
        cpp += text["backward"].fill(backward_values(plan, body))
    return cpp + text["closed"].fill({}) + text["wrapper"].fill(wrapper_values(plan, after, bool(numbers)))


def braced(statements: Iterable[Stmt]) -> str:
    """The body of a function."""
    return in_braces(lines(statements))


def in_braces(inside: Iterable[str]) -> str:
    """Lines in braces."""
    return "".join(["{\n", *(f"  {line}\n" for line in inside), "}"])


Numbers = list[tuple[str, str]]  # the numbers that the forward computes and the wrapper uses, each with its C++ type


def number_results(plan: GraphPlan, after: Iterable[Stmt]) -> Numbers:
    """The numbers of the forward that the statements after it use."""
    used = uses(after)
    computed = (each for step in plan.functional.steps for each in values_of(step).items())
    types = {name: NUMBER_TYPES[type_] for name, type_ in computed if not type_.startswith("Tensor")}
    return [(name, type_) for name, type_ in types.items() if f"results.{name}" in used]


def forward_values(plan: GraphPlan, numbers: Numbers, release: Release, *opened: str) -> dict[str, Filled]:
    """What the sections of the forward are filled with, but for its body. `opened`: a line before all."""
    results = [f"{tensor_type(listed=r.listed)} {r.name};" for r in plan.returned]
    parameters = [f"{guards.inner(input_)} {name}" for name, input_ in plan.functional.inputs.items()]
    return {
        "name": plan.name,
        "doc": plan.functional.function.doc or "straight-line",
        "opened": "\n".join(["\n", *opened]),
        "saved": in_braces(_saved(plan)),
        "rows": _rows(plan, release),
        "results": in_braces([*results, *(f"{type_} {name};" for name, type_ in numbers)]),
        "parameters": ",\n".join([*parameters, f"{forward_needs(plan)} needs", f"{plan.name}_saved& saved"]),
    }


def returned(plan: GraphPlan, numbers: Numbers, named: Callable[[str], Code]) -> Stmt:
    """The end of the forward. `named`: the expression for each name."""
    values = [tensor(each.value, by_name(named)) for each in plan.returned]
    values = [code("graph::cut($)", value) for value in values] if plan.is_recorded else values
    return Return(code("{$}", separated([*values, *(named(name) for name, _ in numbers)])))


def forward_needs(plan: GraphPlan) -> str:
    """The type of the needs of a forward, which decides gates."""
    return "graph::Needs&" if plan.needs.gates else "const graph::Needs&"


def _rows(plan: GraphPlan, release: Release) -> str:
    """The function that computes the rows, if there are any."""
    rows = [Do(code("needs[$] = $", str(row.place), _row(row))) for row in plan.needs.rows]
    return TEXT.of(release)["rows"].fill({"name": plan.name, "body": braced(rows)}) if rows else ""


def _row(row: Row) -> Code:
    return code("saved.gate_$ && ($)" if row.gate else "$$", row.gate, needs_text(row.any_of))


def _saved(plan: GraphPlan) -> list[str]:
    backward = plan.backward
    lines = [
        f"{tensor_type(listed=t.how == 'list')} {t.name};" for t in backward.tensors if t.how not in ("input", "output")
    ]
    for attribute in backward.attributes:
        node = plan.operators[plan.functional.steps[attribute.step].identity].formula  # type: ignore[union-attr]
        saved = next(s for s in node.saved if s.name == attribute.attribute.name)
        lines += [line.format(name=attribute.name) for line in saved.how.fields if "_released_" not in line]
    lines += [
        f"{MEMBER_TYPES[metadata.kind]} {metadata.name}{' = 0' if metadata.kind == 'length' else ''};"
        for metadata in backward.metadata
    ]
    lines += [f"bool gate_{row.gate} = true;" for row in plan.needs.gates]  # until the forward decides them
    numbers = {name: NUMBER_TYPES[type_] for name, type_ in backward.numbers.items()}
    return lines + [f"{type_} {name}{INITIAL.get(type_, '{}')};" for name, type_ in numbers.items()]


def backward_values(plan: GraphPlan, body: Iterable[Stmt]) -> dict[str, Filled]:
    """What the sections of the backward are filled with; `body`: what follows the declarations of gradients."""
    opened = [
        Let("[[maybe_unused]] auto&", ("saved",), code("static_cast<$_saved&>(all)", plan.name)),
        *wrapper.rows(plan),
        *(Let("const at::Tensor&", (t.name,), code("kept[$]", str(i))) for i, t in enumerate(plan.backward.kept)),
    ]
    gradients = ", ".join(each.name for each in plan.returned if each.needs) or "nothing"
    return {"name": plan.name, "gradients": gradients, "body": braced([*opened, *body])}


def found(plan: GraphPlan, named: Callable[[str], Code]) -> Stmt:
    """The end of the backward. `named`: the expression for each gradient."""
    gradients = (
        code("graph::sized($, saved.length_$)", named(f"grad_of_{name}"), name)
        if type_.endswith("]")
        else named(f"grad_of_{name}")
        for name, type_ in plan.tensors.items()
    )
    return Return(code("graph::joined({$})", separated(gradients)))


def wrapper_values(plan: GraphPlan, after: Iterable[Stmt], has_numbers: bool) -> dict[str, Filled]:
    """What the section `wrapper` is filled with. `after`: its statements after the forward."""
    run = wrapper.run_forward(plan, has_results=bool(plan.returned) or has_numbers)
    return {
        "name": plan.name,
        "type": guards.result_type(plan),
        "declared": ",\n".join(guards.parameters(plan)),
        "body": braced([*wrapper.before_forward(plan), run, *after]),
    }
