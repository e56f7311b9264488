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
from gradmill.families.sections import Sections, Text
from gradmill.families.template import Value
from gradmill.model.bindings import Binding, Overload
from gradmill.model.native import NativeFunction
from gradmill.model.schema import Schema, has_symint, is_tensor_like, schema_kind
from gradmill.problems.problem import SpecError
from gradmill.releases.model import Release
from gradmill.rules.native.structseqs import key_of, named_results
from gradmill.rules.native.tracing import is_recorded

TEXT = Text("bindings/bindings.cpp")
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


class Case(Struct, frozen=True, gc=False, array_like=True):
    """A signature and the C++ that calls what it is of: the function, or its out variant if `out` is passed."""

    signature: str
    call: str


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
    call = _blamed_call(group, group.base, named, release)
    if group.out is not None:
        out = _blamed_call(group, group.out, named, release)
        values: dict[str, Value] = {"index": group.signature.out_index, "call": call, "out_call": out}
        call = TEXT.of(release)["with_out"].fill(values)
    return Case(group.text, call)


def _blamed_call(group: SignatureGroup, overload: Overload, named: dict[str, Structseq], release: Release) -> str:
    with blamed(overload):
        return _call(group, overload.function, named, release)


def _call(group: SignatureGroup, function: NativeFunction, named: dict[str, Structseq], release: Release) -> str:
    """The text of a call, line by line: blank lines are upstream's."""
    text, schema, form = TEXT.of(release), function.func, (group.out or group.base).form
    reads = {
        each.name: f"_r.{_reader(each)}({place}{f', {each.computed}' if each.computed is not None else ''})"
        for place, each in enumerate(group.signature.parameters)
    }
    grouped = schema.options_index is not None
    inits, arguments = _locals(group, schema, reads, text)
    if group.signature.method:
        arguments["self"] = "self"
    if group.signature.options:
        inits.append(_options(group, schema, reads, text))
    elif grouped:
        raise SpecError("it takes TensorOptions, but its Python signature does not", "change category_override")
    if grouped:
        arguments["options"] = "options"
    structseq = named.get(key_of(cpp_name(schema), named_results(schema)))
    makes_result = bool(group.signature.options) and (not grouped or group.signature.method)
    parameters, returns = _parameters(group, function, arguments, release), _returns(schema, release)
    values = {
        "function": cpp_name(schema),
        "parameters": ", ".join(f"{type_} {name}" for name, type_ in parameters),
        "returns": returns,
        "target": _target(function),
        "passed": ", ".join(_passed(group, function, release)),
        "structseq": f"{structseq.variable}, " if structseq is not None else "",
        "arguments": ", ".join(arguments[name] for name, _ in parameters),
        "requires_grad": f".set_requires_grad({reads['requires_grad']})" if makes_result else "",
        "return_": text["return_list" if _returns_list(schema) else "return_none"].fill({}),
    }
    body = text["call_without_result" if returns == "void" else "call"].fill(values)
    comment = f"// aten::{schema}" if form is None else f"// [deprecated] aten::{form.schema}"
    return "\n".join((comment, "\n".join(inits), body))


def _reader(parameter: Parameter) -> str:
    none = parameter.default in (None, "None", "::std::nullopt", "std::nullopt", "c10::nullopt")
    return reader(parameter.type, none=none, computed=parameter.computed is not None)


def _locals(
    group: SignatureGroup, schema: Schema, reads: dict[str, str], text: Sections
) -> tuple[list[str], dict[str, str]]:
    """The variables for arguments that are read before the call, and the arguments of the lambda by parameter, without
    options."""
    inits: list[str] = []
    arguments: dict[str, str] = {}
    own = group.signature
    out = () if own.out is None else (own.out,)
    for parameter in own.positional + own.keywords + out:
        name = parameter.name
        values, section = {"name": name, "value": reads[name]}, "local"
        if schema.options_index is not None and name == "self":
            arguments[name] = name
        elif len(parameter.outputs) > 1 and schema.out:
            values["name"] = "out"
            arguments |= {output: f"out[{i}]" for i, output in enumerate(parameter.outputs)}
        elif parameter.type == "Dimname[]?":  # is converted
            section, arguments[name] = "dimnames", name
        else:
            arguments[name] = reads[name]
            continue
        inits.append(text[section].fill(values).removesuffix("\n"))
    return inits, arguments


def _options(group: SignatureGroup, schema: Schema, reads: dict[str, str], text: Sections) -> str:
    """The lines that pack the options, or compare them with `out`."""
    if schema.options_index is not None:
        if schema.out:
            raise SpecError("a function with `out` takes no TensorOptions", "leave them out")
        device = text["device_of_method" if group.signature.method else "device"]
        return text["options"].fill(reads) + device.fill({})
    if not schema.out:
        raise SpecError(
            "it creates a tensor, but has no arguments dtype, layout, device and pin_memory",
            "add them, or write category_override: dummy",
        )
    if "out" not in reads:
        raise SpecError("the out argument of a function that creates a tensor must be named `out`", "rename it")
    places = {each.name: place for place, each in enumerate(group.signature.parameters)}
    none = {f"{name}_is_none": f"_r.isNone({places[name]})" for name in ("dtype", "device")}
    return text["compared_options"].fill({**reads, **none})


def _parameters(
    group: SignatureGroup, function: NativeFunction, arguments: dict[str, str], release: Release
) -> list[tuple[str, str]]:
    """The names and types of a lambda's parameters: those of the C++ function, or of the deprecated form. Tensors that
    are written to are passed by value, since the arguments are temporaries."""
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
        parameters.append((binding.name, type_))
    return parameters


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
