"""Renders a ufunc's kernels: what implements them, and the loops that these call."""

from __future__ import annotations

from msgspec.structs import asdict

from gradmill.cpp.dispatcher import declared
from gradmill.families.kernel_registrations.ufunc import CPU, ELEMENT, VECTOR, DtypeCase, Functor, Ufunc
from gradmill.families.sections import Sections, Text
from gradmill.releases.model import Release

_TEXT = Text("kernel_registrations/ufuncs.cpp", phrases=True)
_AFTER_CASE = "\n    "  # upstream's text ends with the indentation of its source


def definitions(plan: Ufunc, release: Release) -> dict[str, str]:
    """The definitions by section: the kernel for CPU and its loops, or that for CUDA."""
    text = _TEXT.of(release)
    values = {
        **asdict(plan),
        "types": ", ".join(p.type for p in plan.stub),
        "stub": declared(plan.stub),
        "parameters": declared(plan.parameters),
        "functors": "\n".join(_functor(each, text) for each in plan.functors if each.call),
        "cases": "\n".join(_case(each, plan, text) for each in plan.cases),
    }
    sections = ("cpu", "cpu_kernel") if plan.key == CPU else ("cuda",)
    return {name: text[name].fill(values) + "\n" for name in sections}


def _case(case: DtypeCase, plan: Ufunc, text: Sections) -> str:
    body = _loops(case, plan, text) if plan.key == CPU else _functors(case, text)
    return text["case"].fill({"dtype": case.dtype, "body": body})


def _loops(case: DtypeCase, plan: Ufunc, text: Sections) -> str:
    sections = ("number", "number_of_vectors") if case.vector else ("number",)
    numbers = [text[section].fill({"name": name}) for section in sections for name in plan.numbers]
    return text["vectors" if case.vector else "scalars"].fill(
        {
            **asdict(case),
            "numbers": "\n".join(numbers),
            "elements": ", ".join(f"{ELEMENT} {name}" for name in plan.tensors),
            "vectors": ", ".join(f"{VECTOR} {name}" for name in plan.tensors),
        }
    )


def _functors(case: DtypeCase, text: Sections) -> str:
    """The choice of a functor by the operand that is a number."""
    on_number, on_tensors = text["on_number"], text["on_tensors"]
    chosen = "".join((on_number if each.operand else on_tensors).fill(asdict(each)) for each in case.functors)
    return f"using opmath_t = at::opmath_type<scalar_t>;if (false) {{}}\n{chosen}{_AFTER_CASE}"


def _functor(functor: Functor, text: Sections) -> str:
    return text["functor"].fill(
        {
            "functor": functor.name,
            "fields": "\n".join(f"{p.type} {p.name}_;" for p in functor.kept),
            "kept": declared(functor.kept),
            "initialized": ", ".join(f"{p.name}_({p.name})" for p in functor.kept),
            "applied": declared(functor.applied),
            "call": functor.call,
        }
    )
