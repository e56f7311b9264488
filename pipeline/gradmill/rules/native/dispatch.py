"""The `dispatch:` table of a native function: which kernel serves which dispatch key.

torchgen: `model.NativeFunction.from_yaml`.
"""

from __future__ import annotations

from gradmill.cpp.bindings import cpp_name
from gradmill.model.keys import LINE
from gradmill.model.native import Kernel, NativeFunction
from gradmill.model.regex import regex
from gradmill.model.schema import Schema, is_tensor_like
from gradmill.problems.problem import Errors, SpecError, nearest
from gradmill.releases.elsewhere import dated
from gradmill.releases.model import Release

IMPLICIT = "CompositeImplicitAutograd"
IMPLICIT_NESTED = "CompositeImplicitAutogradNestedTensor"
EXPLICIT = "CompositeExplicitAutograd"
EXPLICIT_NON_FUNCTIONAL = "CompositeExplicitAutogradNonFunctional"
_OUTSIDE = "(a device outside of PyTorch has the key PrivateUse1)"
_USUAL = ("CPU", "CUDA", "Meta")  # the most common of the keys that take kernels
COMPOSITES = frozenset((IMPLICIT, IMPLICIT_NESTED, EXPLICIT, EXPLICIT_NON_FUNCTIONAL))

_QUALIFIED = regex(r"(?:::)?(?:[A-Za-z_]\w*+::)*+[A-Za-z_]\w*+")


Rows = list[tuple[str, str]]  # a dispatch key of a table, and its kernel, maybe with a namespace


def parse_dispatch(raw: object, release: Release) -> Rows | None:
    """The rows of a dispatch table, each with one key; None if an op has none. Raises one SpecError for all rows. The
    fields of this module's errors are within the table."""
    if raw is None:
        return None
    if not isinstance(raw, dict):
        raise SpecError(f"dispatch is not a mapping: {raw!r}", "write KEY: kernel rows")
    rows, errors = [], Errors()
    for keys, value in ((keys, value) for keys, value in raw.items() if keys != LINE):
        if not isinstance(keys, str) or not isinstance(value, str):
            field = (keys,) if isinstance(keys, str) else ()
            errors.add(SpecError(f"illegal dispatch row {keys!r}: {value!r}", "write KEY: kernel", field=field))
            continue
        for key in (k.strip() for k in keys.split(",")):
            if key not in release.kernel_keys:
                errors.add(_no_kernel_key(key, value, keys, release))
        if value.count("::") > 3:
            problem = f"kernel '{value}' has more than three levels of namespace"
            errors.add(SpecError(problem, field=(keys,), needle=value))
        rows += [(key.strip(), value) for key in keys.split(",")]
    errors.check()
    return rows


def kernels_of(
    rows: Rows | None, schema: Schema, structured: bool, delegated: bool, manual: bool, release: Release
) -> dict[str, Kernel]:
    """The kernels by dispatch key. An op without a table is composite-implicit under its own name."""
    if rows is None:
        return {} if structured or delegated else {IMPLICIT: Kernel(cpp_name(schema))}
    if manual:
        raise SpecError("dispatch has no effect with manual_kernel_registration", "drop one of them")
    dispatch = {key: _kernel(name, structured=structured and key in release.structured_keys) for key, name in rows}
    if len(rows) == 1:
        _check_singleton(*rows[0], delegated, schema)
    _check_composites(dispatch)
    return dispatch


def _no_kernel_key(key: str, kernel: str, field: str, release: Release) -> SpecError:
    if key in release.dispatch_keys:
        problem = f"dispatch key '{key}' of kernel '{kernel}' cannot have a kernel here"
        hint = f"write a backend's key ({', '.join(_USUAL)}) or {EXPLICIT}"
        if key.startswith("Autograd"):
            hint = f"autograd's kernels are made from derivatives.yaml; {hint}"
        if release.described:
            hint = f'{hint}; or add it in [[facts]] of the description: add.kernel_keys = ["{key}"]'
    else:
        problem, hint = f"unknown dispatch key '{key}'", nearest(key, release.kernel_keys)
        if release.described:
            hint = f"{hint} {_OUTSIDE}".lstrip()
    error = SpecError(problem, hint, field=(field,), needle=key)
    return dated(error, lambda other: key in other.kernel_keys, keep=release.described)


def _kernel(text: str, *, structured: bool = False) -> Kernel:
    *namespaces, name = text.split("::")
    namespace = f"{'::'.join(namespaces) or 'at'}::native" if namespaces else "at::native"
    return Kernel(name, namespace, structured)


def _check_singleton(key: str, text: str, delegated: bool, schema: Schema) -> None:
    """Refuses a table of one row that should be left out."""
    kernel = _kernel(text)
    if key == IMPLICIT and text == cpp_name(schema):
        raise SpecError("the dispatch table repeats the default", "delete it")
    if key == IMPLICIT and not delegated and not kernel.supports_symint:
        problem = f"the only kernel is {IMPLICIT}: '{kernel.name}'"
        raise SpecError(problem, f"rename the kernel to '{cpp_name(schema)}' and delete the dispatch table")


def _check_composites(dispatch: dict[str, Kernel]) -> None:
    composites = COMPOSITES.intersection(dispatch)
    if len(composites) <= 1:
        return
    if len(composites) == 2 and EXPLICIT_NON_FUNCTIONAL not in composites and IMPLICIT_NESTED in composites:
        return
    problem = f"more than one composite kernel: {', '.join(sorted(composites))}"
    raise SpecError(problem, "each strictly covers the others: keep one")


def check_factory(schema: Schema) -> None:
    """Refuses a factory function, which is one without a dispatch table."""
    name = schema.name.unqualified
    factory = schema.options_index is not None and not any(is_tensor_like(a.type) for a in schema.inputs)
    if name.startswith("new_") or name.endswith("_like") or factory:
        problem = f"factory function '{name}' has no dispatch table"
        hint = f"add dispatch: {{{EXPLICIT}: {name}}}: a factory must not be decomposed under __torch_dispatch__"
        raise SpecError(problem, hint)


def odd_kernels(rows: object, function: NativeFunction) -> list[SpecError]:
    """Errors in a function, and the `rows` of its dispatch table, that upstream accepts: kernels and classes with names
    that C++ cannot have, a structured function without kernels."""
    kernels = {keys: name for keys, name in rows.items() if keys != LINE} if isinstance(rows, dict) else {}
    errors = [_no_name("kernel", name, "dispatch", keys) for keys, name in kernels.items() if not _is_qualified(name)]
    inherited = function.structured_inherits
    if inherited and not _is_qualified(inherited.partition("<")[0]):
        errors.append(_no_name("class", inherited, "structured_inherits"))
    if function.structured and not function.dispatch:
        problem = f"'{function.func.name}' is structured, but no dispatch key has a kernel for it"
        hint = f"add dispatch, with a row for each backend, as CPU: {function.func.name.unqualified}_out"
        errors.append(SpecError(problem, hint, field=("structured",), rule="no-kernel"))
    return errors


def _is_qualified(name: str) -> bool:
    """Whether C++ can have a name, perhaps with namespaces."""
    return _QUALIFIED.fullmatch(name) is not None


def _no_name(what: str, name: str, *field: str) -> SpecError:
    hint = "write letters, digits and underscores"
    return SpecError(f"the {what} '{name}' is not a C++ name", hint, field=field, needle=name, rule="cpp-name")
