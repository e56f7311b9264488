"""Renders one Python binding: its definition, its declaration, and its row in the table of the module."""

from __future__ import annotations

from gradmill.cpp.literals import string_literal
from gradmill.families.bindings import ROW
from gradmill.families.bindings.plan import TENSOR, TEXT, BindingPlan, plan
from gradmill.families.family import DECLARATION, DEFINITION, INCLUDE
from gradmill.families.sections import Sections
from gradmill.families.template import Value
from gradmill.model.bindings import Binding
from gradmill.releases.model import Release

# Modules -> the C++ variable with the module, for functions that Python code overrides.
_OWNERS = {
    "torch": "THPVariableFunctionsModule",
    TENSOR: "THPVariableClass",
    **{
        f"torch.{name.lower()}": f"THP{name}VariableFunctionsModule"
        for name in ("NN", "FFT", "Linalg", "Nested", "Sparse", "Special")
    },
}


def render(binding: Binding, release: Release) -> dict[str, str]:
    """The pieces of a binding. Raises SpecError, with the entry that it is in."""
    of = plan(binding, release)
    return {
        INCLUDE: TEXT.of(release)["include"].fill({"header": of.header}),
        DECLARATION: declaration(of, release),
        DEFINITION: definition(of, release),
        ROW: row(of, release),
    }


def declaration(plan: BindingPlan, release: Release) -> str:
    """The declaration; "" for a method, which needs none."""
    if plan.module == TENSOR:
        return ""
    section = "declaration_without_arguments" if plan.no_arguments else "declaration"
    return TEXT.of(release)[section].fill({"binding": _binding(plan)})


def row(plan: BindingPlan, release: Release) -> str:
    """The row in the table of names."""
    binding = f"TypeError_to_NotImplemented_<{_binding(plan)}>" if plan.dunder else _binding(plan)
    if not plan.no_arguments:
        binding = f"castPyCFunctionWithKeywords({binding})"
    alone = plan.no_arguments and plan.module == TENSOR
    flags = "METH_NOARGS" if alone else "METH_VARARGS | METH_KEYWORDS"
    flags += " | METH_STATIC" if plan.module == "torch" else ""
    return TEXT.of(release)["row"].fill({"name": plan.name, "binding": binding, "flags": flags})


def definition(plan: BindingPlan, release: Release) -> str:
    """The function that parses arguments and calls."""
    text, method = TEXT.of(release), plan.module == TENSOR
    cases = [case.call for case in plan.cases]
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
