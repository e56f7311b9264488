"""The signature of a Python binding, as the parser of arguments reads it.

torchgen: `python.PythonSignature.signature_str`, `python.argument_type_str`.
"""

from __future__ import annotations

from msgspec import Struct

from gradmill.cpp.bindings import cpp_name
from gradmill.cpp.defaults import default_expression, python_value
from gradmill.families.bindings.parser_types import parser_type
from gradmill.model.bindings import Overload
from gradmill.model.schema import Argument, Schema, is_tensor_like
from gradmill.problems.problem import SpecError
from gradmill.releases.model import Release

NONE = frozenset(("nullptr", "::std::nullopt", "std::nullopt", "c10::nullopt", "{}"))  # C++ that Python calls None

# The fields of TensorOptions with their types and their defaults in Python, in the order of the signature.
OPTIONS = (
    ("dtype", "ScalarType?", "None"),
    ("layout", "Layout?", "None"),
    ("device", "Device?", "None"),
    ("pin_memory", "bool?", "False"),
    ("requires_grad", "bool?", "False"),
)
_COMPUTED = ("dtype", "layout", "device")  # those with a default that C++ computes, if the schema has one
_DEVICE = "torch::tensors::get_default_device()"


class Parameter(Struct, frozen=True, gc=False, array_like=True):
    """One parameter of a Python signature."""

    name: str
    type: str  # of the schema
    default: str | None = None
    computed: str | None = None  # C++ of the default, if it depends on the state of the program
    outputs: tuple[str, ...] = ()  # of `out`: the out arguments that it stands for

    def text(self, *, method: bool) -> str:
        """The parameter in a signature. SpecError for a type that the parser cannot read."""
        type_ = parser_type(self.type)
        name = "input" if self.name == "self" and type_ == "Tensor" and not method else self.name
        default = "None" if self.default in NONE else self.default
        return f"{type_} {name}" if default is None else f"{type_} {name}={default}"


class PythonSignature(Struct, frozen=True, gc=False, array_like=True):
    """The signature of one overload."""

    name: str
    positional: tuple[Parameter, ...]
    keywords: tuple[Parameter, ...]  # without `out` and options
    out: Parameter | None
    options: tuple[Parameter, ...]  # the fields of TensorOptions, with requires_grad
    method: bool
    deprecated: bool

    @property
    def inputs(self) -> tuple[Parameter, ...]:
        """All parameters but `out`."""
        return self.positional + self.keywords + self.options

    @property
    def parameters(self) -> tuple[Parameter, ...]:
        """All parameters, in the order of parsing."""
        out = () if self.out is None else (self.out,)
        return self.positional + self.keywords + out + self.options

    @property
    def out_index(self) -> int:
        """The place of `out`."""
        return len(self.positional) + len(self.keywords)

    def text(self, *, out: bool = True) -> str:
        """The signature as text; without `out=` if `out` is False. SpecError as `Parameter.text`."""
        parameters = [each.text(method=self.method) for each in (self.parameters if out else self.inputs)]
        if len(parameters) > len(self.positional):
            parameters.insert(len(self.positional), "*")
        return f"{self.name}({', '.join(parameters)}){'|deprecated' if self.deprecated else ''}"


def signature_of(overload: Overload, release: Release, *, method: bool) -> PythonSignature:
    """The signature of an overload: of its deprecated form, if it is one. SpecError for what Python cannot pass."""
    schema = overload.function.func if overload.form is None else overload.form.schema
    reserved = next((a for a in schema.arguments if a.name == "requires_grad"), None)
    if reserved is not None:
        problem = "an argument is named 'requires_grad', which Python bindings add themselves"
        raise SpecError(problem, "rename it", needle=str(reserved))
    at = schema.options_index
    keywords = schema.kwarg_only if at is None else schema.kwarg_only[:at] + schema.kwarg_only[at + 4 :]
    own = schema.self_argument if method else None
    return PythonSignature(
        name=schema.name.unqualified,
        positional=tuple(_parameter(a, release) for a in schema.positional if a is not own),
        keywords=tuple(_parameter(a, release) for a in keywords),
        out=_out(schema, release),
        options=_options(schema, overload.function.category_override, release),
        method=method,
        deprecated=overload.form is not None,
    )


def _parameter(argument: Argument, release: Release) -> Parameter:
    default = argument.default
    if default is not None:
        default = str(python_value(default_expression(default, argument.type, release, symint=False)))
    return Parameter(argument.name, argument.type, default)


def _out(schema: Schema, release: Release) -> Parameter | None:
    """The parameter `out`: one argument by its own name, several as a list."""
    if not schema.out:
        return None
    names = tuple(a.name for a in schema.out)
    if len(names) == 1:
        return Parameter(names[0], schema.out[0].type, "None", outputs=names)
    other = next((a for a in schema.out if not is_tensor_like(a.type)), None)
    if other is not None:
        raise SpecError(f"out argument '{other.name}' is not a tensor", needle=str(other))
    return Parameter("out", f"Tensor[{len(names)}]", "None", outputs=names)


def _options(schema: Schema, override: str | None, release: Release) -> tuple[Parameter, ...]:
    """The fields of TensorOptions. Functions that create a tensor have them, even if their schema does not."""
    name = cpp_name(schema)
    alike = override in ("new", "like") or name.startswith("new_") or name.endswith("_like")
    returns, takes = (any(is_tensor_like(each.type) for each in all_) for all_ in (schema.returns, schema.inputs))
    if override == "dummy" or not (alike or override == "factory" or (returns and not takes)):
        return ()
    at = schema.options_index
    declared = {} if at is None else {a.name: a for a in schema.kwarg_only[at : at + 4]}
    fields = []
    for field, type_, default in OPTIONS:
        computed = None
        if field in _COMPUTED and not alike:
            computed = _computed(declared.get(field), release) or (_DEVICE if field == "device" else None)
        fields.append(Parameter(field, type_, default, computed))
    return tuple(fields)


def _computed(argument: Argument | None, release: Release) -> str | None:
    if argument is None or argument.default in (None, "None"):
        return None
    return default_expression(argument.default, argument.type, release, symint=False)
