"""The plan of a Python binding: all facts that its text needs.

A binding parses the arguments of Python by the signatures of its overloads, and calls the function of the one that
matches through a lambda that releases the interpreter.

torchgen: `gen_python_functions.method_impl`, `gen_python_functions.emit_single_dispatch`,
`python.dispatch_lambda_args`, `python.arg_parser_output_exprs`.
"""

from __future__ import annotations

from msgspec import Struct
from msgspec.structs import replace

from gradmill.cpp.bindings import bindings, cpp_name
from gradmill.cpp.types import return_value_type
from gradmill.families.bindings.order import SignatureGroup, blamed, groups
from gradmill.families.bindings.parser_types import reader
from gradmill.families.bindings.signature import Parameter, signature_of
from gradmill.model.bindings import Binding, Overload
from gradmill.model.native import NativeFunction
from gradmill.model.schema import Schema, has_symint, is_tensor_like, schema_kind
from gradmill.problems.problem import SpecError
from gradmill.releases.model import Release
from gradmill.rules.native.structseqs import key_of, named_results
from gradmill.rules.native.tracing import is_recorded

TENSOR = "Tensor"  # in place of a module: methods

# The types of returns that `wrap` takes, as torch/csrc/autograd/utils/wrap_outputs.h has them; T is a tensor.
_RETURNS = frozenset(
    text.replace("T", "at::Tensor").replace("(", "::std::tuple<").replace(")", ">")
    for text in """
    T (T,T) (T,T,T) (T,T,T,T) (T,T,T,T,T) (T,T,T,T,T,T) (T,T,T,int64_t) (T,T,double,int64_t) (T,T,T,T,int64_t)
    (T,T,double,T,int64_t) (double,int64_t) (T,::std::vector<T>) ::std::vector<T>
    (T,T,T,T,c10::SymInt,c10::SymInt,T,T,T) bool int64_t void* void double
    """.split()
) | {"at::Scalar", "at::QScheme", "at::IntArrayRef", "at::ScalarType", "at::Stream"}


class Structseq(Struct, frozen=True, gc=False, array_like=True):
    """The type of named results."""

    variable: str  # of the binding
    function: str  # the C++ function that the type is named by
    fields: tuple[str, ...]


class LambdaParameter(Struct, frozen=True, gc=False, array_like=True):
    """A parameter of a lambda, and the argument that the binding passes for it."""

    name: str
    type: str
    argument: str


class Local(Struct, frozen=True, gc=False, array_like=True):
    """A variable for an argument that is read before the call."""

    name: str
    value: str
    dimnames: bool = False  # an optional list of names, which is converted


class Options(Struct, frozen=True, gc=False, array_like=True):
    """The C++ expressions that read the fields of TensorOptions."""

    dtype: str
    layout: str
    device: str
    pin_memory: str
    requires_grad: str
    out: str = ""  # of a function without TensorOptions: reads the tensor that must agree with the options
    dtype_is_none: str = ""
    device_is_none: str = ""


class Call(Struct, frozen=True, gc=False, array_like=True):
    """The call of one function."""

    schema: str  # as a comment
    function: str  # names the lambda
    parameters: tuple[LambdaParameter, ...]
    returns: str
    target: str  # what the lambda calls: `self.add`, `at::add_out`
    passed: tuple[str, ...]
    locals: tuple[Local, ...]
    options: Options | None
    requires_grad: str  # the expression to set on the result; "" for none
    structseq: str  # the variable with the type of named results; "" for none
    returns_list: bool  # whether the list that was passed is returned: the function itself returns nothing


class Case(Struct, frozen=True, gc=False, array_like=True):
    """A signature and what it calls. With an out variant, `out_index` is the place of `out`."""

    signature: str
    call: Call
    out_index: int = 0
    out_call: Call | None = None


class BindingPlan(Struct, frozen=True, gc=False, array_like=True):
    """A name of a module, or a method."""

    module: str
    name: str
    header: str  # declares the functions
    dunder: bool
    no_arguments: bool
    traceable: bool
    most: int  # the largest number of arguments
    structseqs: tuple[Structseq, ...]
    cases: tuple[Case, ...]


def plan(binding: Binding, release: Release) -> BindingPlan:
    """The plan of a binding. Raises SpecError, with the entry that it is in."""
    method = binding.module == TENSOR
    named = _structseqs(binding)
    counts = [len(signature_of(each, release, method=method).parameters) for each in binding.overloads]
    name = binding.overloads[0].function.func.name
    return BindingPlan(
        module=binding.module,
        name=binding.name,
        header=name.base,
        dunder=name.dunder,
        no_arguments=counts == [0],
        traceable=all(is_recorded(each.function.func, release) for each in binding.overloads),
        most=max(counts),
        structseqs=tuple(named.values()),
        cases=tuple(_case(group, named, release) for group in groups(binding, release)),
    )


def _structseqs(binding: Binding) -> dict[str, Structseq]:
    """The types of named results, by function and names."""
    named: dict[str, Structseq] = {}
    for overload in binding.overloads:
        schema = overload.function.func
        with blamed(overload):
            fields = named_results(schema)
        key = key_of(cpp_name(schema), fields)
        if fields and key not in named:
            named[key] = Structseq(f"NamedTuple{len(named) or ''}", cpp_name(schema), fields)
    return named


def _case(group: SignatureGroup, named: dict[str, Structseq], release: Release) -> Case:
    call = _planned(group, group.base, named, release)
    if group.out is None:
        return Case(group.text, call)
    return Case(group.text, call, group.signature.out_index, _planned(group, group.out, named, release))


def _planned(group: SignatureGroup, overload: Overload, named: dict[str, Structseq], release: Release) -> Call:
    with blamed(overload):
        return _call(group, overload.function, named, release)


def _call(group: SignatureGroup, function: NativeFunction, named: dict[str, Structseq], release: Release) -> Call:
    schema, form = function.func, (group.out or group.base).form
    reads = {
        each.name: f"_r.{_reader(each)}({place}{f', {each.computed}' if each.computed is not None else ''})"
        for place, each in enumerate(group.signature.parameters)
    }
    places = {each.name: place for place, each in enumerate(group.signature.parameters)}
    grouped = schema.options_index is not None
    local, arguments = _locals(group, schema, reads)
    if group.signature.method:
        arguments["self"] = "self"
    options = None
    if group.signature.options:
        options = _options(schema, reads, places)
    elif grouped:
        raise SpecError("it takes TensorOptions, but its Python signature does not", "change category_override")
    if grouped:
        arguments["options"] = "options"
    structseq = named.get(key_of(cpp_name(schema), named_results(schema)))
    makes_result = bool(group.signature.options) and (not grouped or group.signature.method)
    return Call(
        schema=f"aten::{schema}" if form is None else f"[deprecated] aten::{form.schema}",
        function=cpp_name(schema),
        parameters=_parameters(group, function, arguments, release),
        returns=_returns(schema, release),
        target=_target(function),
        passed=_passed(group, function, release),
        locals=local,
        options=options,
        requires_grad=reads["requires_grad"] if makes_result else "",
        structseq=structseq.variable if structseq is not None else "",
        returns_list=_returns_list(schema),
    )


def _reader(parameter: Parameter) -> str:
    none = parameter.default in (None, "None", "::std::nullopt", "std::nullopt", "c10::nullopt")
    return reader(parameter.type, none=none, computed=parameter.computed is not None)


def _locals(group: SignatureGroup, schema: Schema, reads: dict[str, str]) -> tuple[tuple[Local, ...], dict[str, str]]:
    """The variables of a call, and the arguments for the lambda by parameter, without options."""
    local: list[Local] = []
    arguments: dict[str, str] = {}
    own = group.signature
    out = () if own.out is None else (own.out,)
    for parameter in own.positional + own.keywords + out:
        name, read = parameter.name, reads[parameter.name]
        if schema.options_index is not None and name == "self":
            local.append(Local(name, read))
            arguments[name] = name
        elif len(parameter.outputs) > 1 and schema.out:
            local.append(Local("out", read))
            arguments |= {output: f"out[{i}]" for i, output in enumerate(parameter.outputs)}
        elif parameter.type == "Dimname[]?":
            local.append(Local(name, read, dimnames=True))
            arguments[name] = name
        else:
            arguments[name] = read
    return tuple(local), arguments


def _options(schema: Schema, reads: dict[str, str], places: dict[str, int]) -> Options:
    """How a call reads the options: as TensorOptions, or else to compare them with `out`."""
    own = (reads["dtype"], reads["layout"], reads["device"], reads["pin_memory"], reads["requires_grad"])
    if schema.options_index is not None:
        if schema.out:
            raise SpecError("a function with `out` takes no TensorOptions", "leave them out")
        return Options(*own)
    if not schema.out:
        raise SpecError(
            "it creates a tensor, but has no arguments dtype, layout, device and pin_memory",
            "add them, or write category_override: dummy",
        )
    if "out" not in reads:
        raise SpecError("the out argument of a function that creates a tensor must be named `out`", "rename it")
    none = (f"_r.isNone({places[name]})" for name in ("dtype", "device"))
    return Options(*own, reads["out"], *none)


def _parameters(
    group: SignatureGroup, function: NativeFunction, arguments: dict[str, str], release: Release
) -> tuple[LambdaParameter, ...]:
    """The parameters of a lambda: those of the C++ function, or of the deprecated form. Tensors that are written to are
    passed by value, since the arguments are temporaries."""
    form = (group.out or group.base).form
    of = function if form is None else replace(function, func=form.schema)
    outs = {a.name for a in of.func.out}
    parameters = []
    for binding in bindings(of, release):
        type_ = binding.cpp.passed
        if group.signature.method and binding.name == "self":
            type_ = "const at::Tensor &"
        elif type_ == "at::Tensor &" and not (len(outs) > 1 and binding.name in outs):
            type_ = "at::Tensor"
        if binding.name not in arguments:
            problem = f"its Python signature has no argument '{binding.name}'"
            raise SpecError(problem, "give the arguments of all variants the same names")
        parameters.append(LambdaParameter(binding.name, type_, arguments[binding.name]))
    return tuple(parameters)


def _returns(schema: Schema, release: Release) -> str:
    types = [return_value_type(r.type, release.base_types) for r in schema.returns]
    returns = types[0] if len(types) == 1 else f"::std::tuple<{','.join(types)}>" if types else "void"
    if returns not in _RETURNS:
        raise SpecError(f"Python bindings cannot return {returns}", needle=str(schema).rpartition(" -> ")[2])
    return returns


def _target(function: NativeFunction) -> str:
    schema = function.func
    name = cpp_name(schema, symint=has_symint(schema))
    if "method" in function.variants:
        return f"self.{name}"
    makes = schema.options_index is not None or schema.name.base.endswith("_like")
    return f"{'torch' if makes else 'at'}::{name}"


def _passed(group: SignatureGroup, function: NativeFunction, release: Release) -> tuple[str, ...]:
    """The arguments that the lambda passes on."""
    form = (group.out or group.base).form
    if form is None:
        names = tuple(binding.name for binding in bindings(function, release))
    else:
        names = tuple(name for name in form.call if name != "out" or function.func.out)
    return tuple(name for name in names if name != "self") if "method" in function.variants else names


def _returns_list(schema: Schema) -> bool:
    """Whether Python gets back the list that an in-place foreach function changed."""
    if schema.returns or not str(schema.name).startswith("_foreach_") or schema_kind(schema) != "inplace":
        return False
    own = schema.self_argument
    if own is None or not (is_tensor_like(own.type) and own.type.endswith("]")):
        raise SpecError("`self` of an in-place foreach function is not a list of tensors", "write Tensor(a!)[] self")
    return True
