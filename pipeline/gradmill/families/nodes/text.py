"""Renders the C++ of one Node: its declaration and its definition."""

from __future__ import annotations

from gradmill.families.family import DECLARATION, DEFINITION
from gradmill.families.nodes import INITIALIZER, PROPERTIES
from gradmill.families.nodes.plan import Gradient, NodePlan, Saved, plan, with_markers
from gradmill.families.sections import Sections, Text
from gradmill.families.template import Value
from gradmill.model.autograd import Reverse
from gradmill.releases.model import Release

_TEXT, _PYTHON = Text("nodes/node.cpp"), Text("nodes/python.cpp")
_LOCK = "std::lock_guard<std::mutex> lock(mutex_);"
_DEFINITION = ("gradient_function", "ivalue_function", "apply", "compiled_args", "apply_with_saved")  # in this order
_ANY_DEFINED = "bool any_grad_defined = any_variable_defined(grads);"


def render(info: Reverse, release: Release, *, markers: bool = False) -> dict[str, str]:
    """The pieces of a Node. `markers`: whether formulas stand between markers that name their inputs. Raises SpecError
    for an attribute that cannot be saved."""
    of = plan(info, release)
    of = with_markers(of) if markers else of
    pieces = {INITIALIZER: initializer(of, release), PROPERTIES: properties(of, release)}
    return {DECLARATION: declaration(of, release), DEFINITION: definition(of, release), **pieces}


def declaration(plan: NodePlan, release: Release) -> str:
    """The struct."""
    text = _TEXT.of(release)
    return text["declaration"].fill(
        {
            "node": plan.node,
            "superclass": plan.superclass,
            "lock": _lock(plan),
            "releases": _lines(plan, "release"),
            "will_release_variables": text["will_release_variables"].fill({}) if plan.retains_variables else "",
            "fields": _lines(plan, "fields"),
            "list_sizes": [f"size_t {input_.name}_size_;" for input_ in plan.inputs if input_.is_list],
        }
    )


def definition(plan: NodePlan, release: Release) -> str:
    """The gradient function, `apply`, and the functions that compiled autograd calls."""
    text, values = _TEXT.of(release), _values(plan, release)
    return "".join(text[section].fill(values) for section in _DEFINITION if section in text)


def gradient_function(plan: NodePlan, release: Release) -> str:
    """The first of these, of a release that has it."""
    return _TEXT.of(release)["gradient_function"].fill(_values(plan, release))


def _values(plan: NodePlan, release: Release) -> dict[str, Value]:
    text = _TEXT.of(release)
    ranges = [f"auto {i.name}_ix = gen.range({f'{i.name}_size_' if i.is_list else 1});" for i in plan.inputs]
    passed = parameters(plan)
    unpacks = [_unpack(s, release) for s in plan.saved if s.how.unpack]
    names, gradients = _gradient_names(plan), _gradients(plan, text, release)
    return {
        "node": plan.node,
        "inputs": len(plan.inputs),
        "lock": _lock(plan),
        "asserts": [s.how.check.format(name=s.name) for s in plan.saved if s.how.check],
        "unpacks": unpacks,
        "index_ranges": ranges,
        "body": [*names, *gradients],
        "body_with_unpacks": [*names, *unpacks, *gradients],
        "parameters": [f"{type_} {name}" for name, type_ in passed],
        "arguments": [name for name, _ in passed],
        "needs_input_grad": _needs_input_grad(plan, ranges, text) if release.functional_apply else "",
        **_compiled(plan, passed, release),
    }


def _needs_input_grad(plan: NodePlan, ranges: list[str], text: Sections) -> str:
    masks = [f"task_should_compute_output({{ {i.name}_ix }})," for i in plan.inputs]
    return text["needs_input_grad"].fill({"count": len(masks), "index_ranges": ranges, "masks": masks})


def _compiled(plan: NodePlan, passed: list[tuple[str, str]], release: Release) -> dict[str, Value]:
    """The values for compiled autograd, which collects, swaps, packs and unpacks saved attributes."""
    return {
        "collected": [_collect(s, release) for s in plan.saved],
        "before": [f"saved.before({s.member});" for s in plan.saved],
        "after": [f"saved.after({s.member});" for s in plan.saved],
        "packed": [f"packed_args.pack({name});" for name, _ in passed],
        "unpacked_ivalues": [f"auto {n} = packed_args.unpack<{t.removesuffix('&')}>();" for n, t in passed],
        "packed_types": _packed_types(plan, passed),
    }


def _lock(plan: NodePlan) -> str:
    """The lock that excludes reading saved variables from releasing them. A Node without saved variables needs none."""
    return _LOCK if any(s.how.release for s in plan.saved) else ""


def _lines(plan: NodePlan, part: str) -> list[str]:
    return [line.format(name=s.name) for s in plan.saved for line in getattr(s.how, part)]


def _unpack(saved: Saved, release: Release) -> str:
    """The line that unpacks an attribute. A saved output is unpacked with the Node that computed it: this one."""
    pointer = release.self_pointer if saved.is_output else saved.how.input_pointer
    return saved.how.unpack.format(name=saved.name, pointer=pointer)


def _collect(saved: Saved, release: Release) -> str:
    if not saved.how.is_variable:
        return f"args.collect({saved.member});"
    return release.collect_variable.format(name=saved.member, is_output="true" if saved.is_output else "false")


def parameters(plan: NodePlan) -> list[tuple[str, str]]:
    """The parameters of the gradient function as (name, type): list sizes, saved attributes, retain_variables."""
    sizes = [(f"{input_.name}_size_", "size_t") for input_ in plan.inputs if input_.is_list]
    retains = [("retain_variables", "bool")] if plan.retains_variables else []
    return [*sizes, *((saved.name, saved.how.passed) for saved in plan.saved), *retains]


def _packed_types(plan: NodePlan, passed: list[tuple[str, str]]) -> list[str]:
    types = [f"std::array<bool, {len(plan.inputs)}>"]
    types += [t.removesuffix("&").removeprefix("const").strip() for _, t in passed]
    rows = [f"  torch::dynamo::autograd::IValuePacker<{t}>::packed_type()," for t in types]
    return ["std::vector<at::TypePtr> schema = {", *rows, "};"]


def _gradient_names(plan: NodePlan) -> list[str]:
    if plan.gradient_names is None:
        return ["const auto& grad = grads[0];"]
    return [f"const auto& {name} = grads[{index}];" for name, index in plan.gradient_names]


def _gradients(plan: NodePlan, text: Sections, release: Release) -> list[str]:
    blocks = [_ANY_DEFINED] if any(g.checks_any_defined for g in plan.gradients) else []
    return blocks + [_one(g, plan, text) if len(g.inputs) == 1 else _several(g, text, release) for g in plan.gradients]


def _one(gradient: Gradient, plan: NodePlan, text: Sections) -> str:
    formula = f"any_grad_defined ? ({gradient.formula}) : Tensor()" if gradient.checks_any_defined else gradient.formula
    input_ = gradient.inputs[0]
    section = "gradient_of_each" if plan.is_foreach else "gradient"
    return text[section].fill({"name": input_.name, "idx": input_.index, "formula": formula})


def _several(gradient: Gradient, text: Sections, release: Release) -> str:
    ranges = not release.functional_apply
    needed = [f"{i.name}_ix" if ranges else f"needs_input_grad[{i.index}]" for i in gradient.inputs]
    mask = ""
    if gradient.uses_mask:
        masks = [f"task_should_compute_output({{ {n} }})," if ranges else f"{n}," for n in needed]
        mask = text["grad_input_mask"].fill({"count": len(masks), "masks": masks})
    copies = [
        text["copy_gradient"].fill({"name": input_.name, "i": i, "idx": input_.index})
        for i, input_ in enumerate(gradient.inputs)
    ]
    return text["gradients"].fill(
        {
            "condition": (", " if ranges else " || ").join(needed),
            "grad_input_mask": mask,
            "formula": gradient.formula,
            "copy_ranges": copies,
        }
    )


def initializer(plan: NodePlan, release: Release) -> str:
    """The registration of the Node's Python class."""
    return _PYTHON.of(release)["class"].fill({"node": plan.node})


def properties(plan: NodePlan, release: Release) -> str:
    """The getters, and the table of properties that refers to them."""
    text = _PYTHON.of(release)
    getters = []
    rows = []
    for saved in plan.saved:
        names = {"node": plan.node, "name": saved.name}
        for getter in saved.how.getters:
            tail = "" if release.trims_lines else getter.tail
            body = text[getter.body].fill({})
            getters.append(text[getter.frame].fill({**names, "body": body}) + tail)
            rows.append(text["raw_property" if getter.raw else "property"].fill(names).rstrip("\n"))
    table = text["properties"].fill({"node": plan.node, "properties": ",\n".join(rows) + "," if rows else ""})
    return "\n".join(getters).rstrip() + "\n" + table
