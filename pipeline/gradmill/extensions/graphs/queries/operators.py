"""The operators as graphs use them: schemas, functional variants, derivatives, one row per operator."""

from gradmill.cpp.bindings import cpp_name
from gradmill.cpp.kernel_names import DEFAULT_KEY
from gradmill.extensions.graphs.helpers import missing_helpers
from gradmill.extensions.graphs.operator import Operator
from gradmill.extensions.graphs.queries.graphs import overloads
from gradmill.grammar.buckets import bucket_of
from gradmill.model.autograd import Reverse
from gradmill.model.native import NativeFunction
from gradmill.model.schema import is_tensor_like, schema_kind
from gradmill.query.database import Database
from gradmill.query.query import query, table
from gradmill.rules.native.dispatch import IMPLICIT
from gradmill.stages import infos
from gradmill.stages.kernels import differentiable, kernel_derivatives
from gradmill.stages.match import node, pairs, reverse
from gradmill.stages.schemas import bucket_of_function, function, heads
from gradmill.stages.set import release, spec_set

HELPERS = "graph_formulas.h"  # a template with declarations of the set's own helpers, which all graphs include


@table
def functional_variants(db: Database, bucket: str) -> dict[str, str]:
    """The functional variants of the in-place and out functions of a bucket, by function."""
    listed = heads(db, bucket)
    functional = {(head.namespace, head.signature): name for name, head in listed if head.kind == "functional"}
    others = ((name, (head.namespace, head.signature)) for name, head in listed if head.kind in ("inplace", "out"))
    return {name: functional[key] for name, key in others if key in functional}


@table
def sources(db: Database, bucket: str) -> dict[str, str]:
    """The function with the derivatives that serve each function of a bucket under the default key."""
    return {
        pair.function: pair.source[DEFAULT_KEY]
        for pair in pairs(db, bucket)
        if pair.source is not None and DEFAULT_KEY in pair.source
    }


@query
def operator(db: Database, identity: str) -> Operator | None:
    """A function as graphs use it; None if it does not exist."""
    native = function(db, identity)
    if native is None:
        return None
    kind, found = schema_kind(native.func), functional_variants.item(db, bucket_of_function(identity), identity)
    variant = None if found is None else function(db, found)
    own_helpers = HELPERS in spec_set(db).templates
    differentiable_complex = release(db).complex_differentiable
    derivatives = _derivatives(db, identity) if own_helpers or IMPLICIT not in native.dispatch else None
    return Operator(
        identity,
        native,
        variant if kind == "inplace" else None,
        derivatives,
        _outputs(db, native, identity, variant, has_derivatives=derivatives is not None),
        _refused(db, native, identity) if derivatives is not None else (),
        () if own_helpers or derivatives is None else _hidden(db, derivatives),
        _tracked(db, native),
        kind == "functional" and derivatives is not None and native.func.name.base not in differentiable_complex,
    )


def _outputs(
    db: Database, native: NativeFunction, identity: str, variant: NativeFunction | None, *, has_derivatives: bool
) -> tuple[str, ...]:
    """The results with a history. A generated out variant of a composite calls that one, and autograd records it."""
    if variant is not None and schema_kind(native.func) == "out" and IMPLICIT in variant.dispatch:
        return tuple(argument.name for argument in native.func.out)
    # Autograd records calls without a derivative, too. Python calls factories below autograd: `randint_like`.
    recorded = has_derivatives or (native.is_abstract and not native.func.name.base.endswith("_like"))
    return tuple(differentiable(db, identity) or ()) if recorded else ()


def _derivatives(db: Database, identity: str) -> Reverse | None:
    source = sources.item(db, bucket_of_function(identity), identity)
    if source is None:
        return None
    key = infos.keyed(source, DEFAULT_KEY)
    row = node(db, key)
    return None if row is None or row.node is None else reverse(db, key)


def _hidden(db: Database, derivatives: Reverse) -> tuple[str, ...]:
    formulas = [formula for formula, _ in derivatives.formulas]
    return missing_helpers(formulas, lambda name: _is_function(db, name), release(db).exported_helpers)


def _is_function(db: Database, name: str) -> bool:
    """Whether `at::` has a function with this name."""
    functions = (function(db, each) for each in overloads.item(db, bucket_of(name), f"aten::{name}") or ())
    return any(each is not None and "function" in each.variants for each in functions)


def _refused(db: Database, native: NativeFunction, identity: str) -> tuple[str, ...]:
    derivatives = next(
        (each for each in kernel_derivatives(db, identity) or () if each.dispatch_key == DEFAULT_KEY), None
    )
    if derivatives is None:
        return ()
    excused = (*derivatives.inputs, *derivatives.differentiability.non_differentiable, "output")
    return tuple(a.name for a in native.func.inputs if is_tensor_like(a.type) and a.name not in excused)


def _tracked(db: Database, native: NativeFunction) -> bool:
    without = release(db).dont_require_derivative
    schema = native.func
    return schema.name.base not in without and cpp_name(schema) not in without and schema_kind(schema) != "out"
