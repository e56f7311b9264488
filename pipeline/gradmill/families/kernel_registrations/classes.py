"""Renders the class of a structured kernel, which allocates its outputs, and what its wrapper does with an object of
it: it calls the meta function and the implementation.

torchgen: `register_dispatch_key.StructuredRegisterDispatchKey.gen_one`,
`register_dispatch_key.StructuredRegisterDispatchKey.gen_class`.
"""

from __future__ import annotations

from msgspec import Struct

from gradmill.cpp.signatures import cpp_signatures
from gradmill.cpp.structured import goals, impl_arguments, meta_arguments, precomputed_arguments
from gradmill.cpp.translate import Value, translate
from gradmill.families.sections import Sections, Text
from gradmill.grammar.names import unambiguous_name
from gradmill.model.native import NativeFunction
from gradmill.model.native_aot import AotDeclaration
from gradmill.model.schema import schema_kind
from gradmill.problems.problem import SpecError
from gradmill.releases.model import Release
from gradmill.rules.dispatch.groups import CUDA, MADE, META, Group
from gradmill.rules.native.dispatch import EXPLICIT_NON_FUNCTIONAL

_TEXT = Text("kernel_registrations/classes.cpp")
_SUFFIXES = {META: "meta", EXPLICIT_NON_FUNCTIONAL: "default_backend"}  # of classes without an implementation
_PROXY = "proxy_outputs_[output_idx].has_value() ? *proxy_outputs_[output_idx] : outputs_[output_idx].get()"


class Guards(Struct, frozen=True, gc=False, array_like=True):
    """How the structured kernels of a key guard and check the device."""

    of_class: str  # the type of the guard in their classes; "" for none
    is_set: bool
    checks: bool  # whether their wrappers check devices


def guards_of(key: str, release: Release) -> Guards:
    """How those of a key of ATen do."""
    hip = release.hip_guard if key == CUDA and release.for_hip else ""
    own = hip or release.class_guards.get(key, "")
    return Guards(own, key not in release.unset_guards, key in release.guarded_keys)


def structured_kernel(
    function: NativeFunction,
    group: Group,
    key: str,
    scope: list[Value],
    ahead: AotDeclaration | None,
    guards: Guards,
    release: Release,
) -> tuple[str, list[str]]:
    """The class of a structured kernel of a key, and the statements of its wrapper. `scope`: the wrapper's parameters;
    `ahead`: a kernel that is tried before. SpecError for an argument that it cannot take."""
    text, kind, out = _TEXT.of(release), schema_kind(function.func), group.primary
    if kind not in ("functional", "inplace", "out"):
        raise SpecError(f"a structured kernel cannot be of a {kind} function", field=("func",))
    if any(a.type != "Tensor" for a in out.func.out):
        raise SpecError("a structured kernel can only write to tensors", field=("func",))
    stem, base = _class_names(group, key)
    name, outs, count = f"{stem}_{kind}", [a.name for a in function.func.out], len(function.func.returns)
    meta = ", ".join(translate(scope, goals(meta_arguments(group.functional), release)))
    computed = goals(precomputed_arguments(out), release)
    output = "op.maybe_get_output({0})" if kind == "out" else "op.outputs_[{0}]"
    scope = [
        *scope,
        *(Value(each, type_, f"precompute.{each}") for each, type_ in computed),
        *(Value(a.name, "at::Tensor &", output.format(i)) for i, a in enumerate(out.func.out)),
    ]
    constructed = {"functional": "", "inplace": "(self)", "out": f"({', '.join(outs)})"}[kind]
    statements = [
        f"{name} op{constructed};",
        f"{'auto precompute = ' if out.precomputed else ''}op.meta({meta});",
        *(["(void)precompute;"] if out.precomputed else []),
        *_calls(function=function, group=group, key=key, scope=scope, ahead=ahead, release=release),
        *(text["proxied"].fill({"i": i}) for i in range(count if kind != "functional" else 0)),
        f"return {_result(kind, outs, count)};",
    ]
    return _class(name=name, base=base, function=function, group=group, guards=guards, text=text), statements


def _class(name: str, base: str, function: NativeFunction, group: Group, guards: Guards, text: Sections) -> str:
    """The class. Its base class gets the outputs, too, if the entry names that."""
    kind, count = schema_kind(function.func), len(function.func.returns)
    owns, calls_base = kind == "functional", group.primary.structured_inherits is not None
    constructor = "" if owns else f"{name}(Tensor& self) : outputs_{{std::ref(self)}} {{}}"
    if kind == "out":
        outs = ", ".join(f"Tensor& out{i}" for i in range(count))
        references = ", ".join(f"std::ref(out{i})" for i in range(count))
        constructor = f"{name}({outs}) : outputs_{{ {references} }} {{}}"
    guard = ["set_guard"] if guards.of_class and guards.is_set else []
    set_output = [text[section].fill({}) for section in (*guard, kind)]
    fields = [] if owns else [f"std::array<::std::optional<Tensor>, {count}> proxy_outputs_;"]
    return text["class"].fill(
        {
            "name": name,
            "base": base,
            "constructor": constructor,
            "strided": [*set_output, *([] if owns else [text["proxy"].fill({})])],
            "raw_strided": set_output,
            "base_call": text["base_call"].fill({"base": base}) if calls_base else "",
            "output": "outputs_[output_idx]" if owns else _PROXY,
            "output_type": "Tensor" if owns else "std::reference_wrapper<Tensor>",
            "returns": count,
            "fields": [*fields, f"{guards.of_class} guard_;"] if guards.of_class else fields,
        }
    )


def _class_names(group: Group, key: str) -> tuple[str, str]:
    """The name of the class without its kind, and its base."""
    meta, kernel = unambiguous_name(group.functional.func.name), group.kernel(key)
    if key in _SUFFIXES or kernel is None:
        return f"structured_{meta}_{_SUFFIXES[key]}", f"at::meta::structured_{meta}"
    return f"structured_{kernel.name}", f"{kernel.namespace}::structured_{kernel.name}"


def _calls(
    function: NativeFunction, group: Group, key: str, scope: list[Value], ahead: AotDeclaration | None, release: Release
) -> list[str]:
    """The call of what implements a kernel, its own function or through the dispatcher the out variant, if something
    does. That of a kernel that is compiled ahead of time comes first."""
    if key == META:
        return []
    if key == EXPLICIT_NON_FUNCTIONAL:
        _, faithful, *_ = cpp_signatures(group.primary, release, fallback=function.manual_cpp_binding)
        called, wanted = f"at::{faithful.name}", [(p.meaning, p.type) for p in faithful.parameters]
    else:
        called, wanted = "op.impl", goals(impl_arguments(group.primary), release)
    arguments = ", ".join(translate(scope, wanted))
    call = f"{called}({arguments});"
    if ahead is None or key in MADE:
        return [call]
    section = _TEXT.of(release)["implemented_ahead" if ahead.unconditional else "tried_ahead"]
    return [section.fill({"name": ahead.name, "key": ahead.key, "arguments": arguments, "call": call})]


def _result(kind: str, outs: list[str], count: int) -> str:
    if kind == "inplace":
        return "self"
    if kind == "out":
        return outs[0] if count == 1 else f"std::forward_as_tuple({', '.join(outs)})"
    moved = [f"std::move(op.outputs_[{i}])" for i in range(count)]
    return moved[0] if count == 1 else f"std::make_tuple({', '.join(moved)})"
