"""The inputs of autograd's kernels: which functions have one, and the part of the derivatives that it depends on.

Part of the stage `match`.

torchgen: `autograd.dispatch_strategy`.
"""

from msgspec.structs import replace

from gradmill.cpp.kernel_names import DEFAULT_KEY
from gradmill.model.kernels import FunctionWithDerivatives, KernelDerivative
from gradmill.model.nodes import FunctionWithInfo, Outputs
from gradmill.model.schema import modifies
from gradmill.problems.problem import Role, SpecError, problem_of
from gradmill.query.database import Database
from gradmill.query.query import query, table
from gradmill.stages import foreach, infos
from gradmill.stages.match import defined_by, dependent_of, in_order, info, node, pairs, rewritten
from gradmill.stages.schemas import bucket_of_function, buckets, function, heads
from gradmill.stages.selection import is_selected
from gradmill.stages.set import release


@table
def kernels(db: Database, bucket: str) -> dict[str, FunctionWithInfo]:
    """The functions of a bucket with autograd kernels: those with derivatives under some key, and those that are not
    composed of other functions."""
    listed = dict(heads(db, bucket))
    keys = {**infos.own_keys(db, bucket), **foreach.synthesized_in(db, bucket).keys}
    return {
        pair.function: pair
        for pair in pairs(db, bucket)
        if listed[pair.function].abstract
        or any(keys.get(name, {}).get(key) for key, name in (pair.source or {}).items())
    }


def kernel(db: Database, function: str) -> FunctionWithInfo | None:
    """The pair of a function with an autograd kernel; None if it has none."""
    return kernels.item(db, bucket_of_function(function), function)


@query
def kernel_derivatives(db: Database, name: str) -> tuple[KernelDerivative, ...] | None:
    """The part of its derivatives that a function's kernels depend on; None if no derivatives serve it."""
    pair = kernel(db, name)
    if pair is None or pair.source is None:
        return None
    derivatives = (_kernel_derivative(db, pair, source, key) for key, source in pair.source.items())
    return tuple(derivative for derivative in derivatives if derivative is not None)


def function_with_derivatives(db: Database, name: str) -> FunctionWithDerivatives | None:
    """A function with the part of its derivatives that its kernels depend on."""
    native = function(db, name)
    return None if native is None else FunctionWithDerivatives(native, kernel_derivatives(db, name))


def _kernel_derivative(db: Database, pair: FunctionWithInfo, source: str, key: str) -> KernelDerivative | None:
    from gradmill.rules.kernels.derivative import kernel_derivative  # only needed for derivatives that changed

    row, own = node(db, infos.keyed(source, key)), info(db, source, key)
    if row is None or own is None:
        return None
    dependent = dependent_of(db, pair.function)
    if dependent is not None and dependent.inplace:
        forward = dict(rewritten(db, pair.function))
        own = replace(own, forward_derivatives=forward.get(key, ()))
    native = function(db, pair.function)
    assert native is not None
    by_member = pair.op.startswith("_foreach") and native.func.name.inplace
    reference = function(db, source) if by_member else None
    try:
        return kernel_derivative(key, row.node, own, reference, out=bool(native.func.out))
    except SpecError as error:
        db.report(problem_of(error, "derivatives", row.definition, row.op, derived=True))
        return None


def definition_of(db: Database, name: str) -> tuple[Role, str, str] | None:
    """The place of the derivatives that serve a function: the role of the file, the entry, and the operator's name."""
    pair = kernel(db, name)
    for key, source in (pair.source or {}).items() if pair is not None else ():
        return "derivatives", *defined_by(db, source, key)
    return None


@query
def used_keys(db: Database) -> list[str]:
    """The dispatch keys that derivatives are defined for, sorted."""
    return sorted({key for shape in infos.all_shapes(db) for key, _ in shape.keys})


@query
def underived(db: Database) -> str:
    """The first selected function with a kernel but without derivatives; "" if there is none."""
    listed = in_order(db, (pair for bucket in db.names(buckets) for pair in kernels(db, bucket).values()))
    without = (pair for pair in listed if not pair.source and is_selected(db, pair.function))
    return next((pair.op for pair in without), "")


def outputs(db: Database, name: str) -> Outputs | None:
    """A function with an autograd kernel; if it returns views, with the outputs that carry history."""
    native = function(db, name)
    if native is None or release(db).viewed(native.func.name.base) is None or modifies(native.func):
        return None if native is None else Outputs(native)
    names = differentiable(db, name)
    return None if names is None else Outputs(native, tuple(names))


@query
def differentiable(db: Database, name: str) -> list[str] | None:
    """The names of a function's outputs that carry history; None if that is unknown or an error."""
    from gradmill.rules.kernels.derivative import differentiability_of
    from gradmill.rules.matching.differentiability import differentiable_outputs

    pair, native = kernel(db, name), function(db, name)
    if pair is None or native is None:
        return None
    source = pair.source or {}
    key = DEFAULT_KEY if DEFAULT_KEY in source or not source else next(iter(source))
    try:
        if key != DEFAULT_KEY:
            raise SpecError("a view with derivatives needs some for Default", "define them for Default too")
        own = info(db, source[key], key) if source else None
        declared = None if own is None else differentiability_of(own)
        return [output.name for output in differentiable_outputs(native, declared, release(db))]
    except SpecError as error:
        db.report(problem_of(error, "derivatives", *defined_by(db, source[key], key), derived=True))
        return None
