"""Renders one Python binding: its definition, its declaration, and its row in the table of the module."""

from __future__ import annotations

from msgspec.structs import asdict

from gradmill.cpp.literals import string_literal
from gradmill.families.bindings.plan import TENSOR, BindingPlan, Call, Case, Local, Options
from gradmill.families.sections import Sections, Text
from gradmill.families.template import Value
from gradmill.releases.model import Release

_TEXT = Text("bindings/bindings.cpp")

# Modules -> the C++ variable with the module, for functions that Python code overrides.
_OWNERS = {
    "torch": "THPVariableFunctionsModule",
    TENSOR: "THPVariableClass",
    **{
        f"torch.{name.lower()}": f"THP{name}VariableFunctionsModule"
        for name in ("NN", "FFT", "Linalg", "Nested", "Sparse", "Special")
    },
}


def include(plan: BindingPlan, release: Release) -> str:
    """The `#include` of the functions' header."""
    return _TEXT.of(release)["include"].fill({"header": plan.header})


def declaration(plan: BindingPlan, release: Release) -> str:
    """The declaration; "" for a method, which needs none."""
    if plan.module == TENSOR:
        return ""
    section = "declaration_without_arguments" if plan.no_arguments else "declaration"
    return _TEXT.of(release)[section].fill({"binding": _binding(plan)})


def row(plan: BindingPlan, release: Release) -> str:
    """The row in the table of names."""
    binding = f"TypeError_to_NotImplemented_<{_binding(plan)}>" if plan.dunder else _binding(plan)
    if not plan.no_arguments:
        binding = f"castPyCFunctionWithKeywords({binding})"
    alone = plan.no_arguments and plan.module == TENSOR
    flags = "METH_NOARGS" if alone else "METH_VARARGS | METH_KEYWORDS"
    flags += " | METH_STATIC" if plan.module == "torch" else ""
    return _TEXT.of(release)["row"].fill({"name": plan.name, "binding": binding, "flags": flags})


def definition(plan: BindingPlan, release: Release) -> str:
    """The function that parses arguments and calls."""
    text, method = _TEXT.of(release), plan.module == TENSOR
    cases = [_case(case, method, text) for case in plan.cases]
    one = len(cases) == 1
    section = "without_arguments" if plan.no_arguments else "one_signature" if one else "several_signatures"
    header = ["HANDLE_TH_ERRORS"]
    header += [text["structseq"].fill({"variable": s.variable, "function": s.function}) for s in plan.structseqs]
    header += ["const Tensor& self = THPVariable_Unpack(self_);"] if method else []
    own = "self_" if method else "nullptr"
    values: dict[str, Value] = {
        "name": plan.name,
        "binding": _binding(plan),
        "header": header,
        "most": plan.most,
        "signatures": [f"{string_literal(case.signature)}," for case in plan.cases],
        "traceable": "true" if plan.traceable else "false",
        "own": own,
        "override": _override(plan, own, text),
        "dispatch": cases if one else [text["case"].fill({"index": i, "body": c}) for i, c in enumerate(cases)],
        "footer": [*([] if plan.no_arguments else ["Py_RETURN_NONE;"]), "END_HANDLE_TH_ERRORS"],
    }
    return text[section].fill(values)


def _binding(plan: BindingPlan) -> str:
    return f"THPVariable_{plan.name}"


def _override(plan: BindingPlan, own: str, text: Sections) -> str:
    """The test whether Python code overrides the function."""
    if plan.no_arguments:
        return text["override_of_method"].fill({"name": plan.name}) if plan.module == TENSOR else ""
    module = "torch.Tensor" if plan.module == TENSOR else plan.module
    return text["override"].fill({"own": own, "owner": _OWNERS[plan.module], "module": module})


def _case(case: Case, method: bool, text: Sections) -> str:
    call = _call(case.call, method, text)
    if case.out_call is None:
        return call
    out = _call(case.out_call, method, text)
    return text["with_out"].fill({"index": case.out_index, "call": call, "out_call": out})


def _call(call: Call, method: bool, text: Sections) -> str:
    """The text of a call, line by line: blank lines are upstream's."""
    inits = [_local(each, text) for each in call.locals]
    if call.options is not None:
        inits += _options(call, call.options, method, text)
    section = "call_without_result" if call.returns == "void" else "call"
    values = {
        **asdict(call),
        "parameters": ", ".join(f"{p.type} {p.name}" for p in call.parameters),
        "passed": ", ".join(call.passed),
        "structseq": f"{call.structseq}, " if call.structseq else "",
        "arguments": ", ".join(p.argument for p in call.parameters),
        "requires_grad": f".set_requires_grad({call.requires_grad})" if call.requires_grad else "",
        "return_": text["return_list" if call.returns_list else "return_none"].fill({}),
    }
    body = text[section].fill(values)
    return "\n".join((f"// {call.schema}", "\n".join(inits), body))


def _local(local: Local, text: Sections) -> str:
    return text["dimnames" if local.dimnames else "local"].fill(asdict(local)).removesuffix("\n")


def _options(call: Call, options: Options, method: bool, text: Sections) -> list[str]:
    """The lines that pack the options, or compare them with `out`."""
    if options.out:
        return [text["compared_options"].fill(asdict(options))]
    return [text["options"].fill(asdict(options)) + text["device_of_method" if method else "device"].fill({})]
