"""Python bindings of functions as data: what a name of a module, or a method of Tensor, stands for."""

from msgspec import Struct

from gradmill.model.native import NativeFunction
from gradmill.model.schema import Schema


class DeprecatedForm(Struct, frozen=True, gc=False, array_like=True):
    """An entry of deprecated.yaml: a signature that Python still accepts, and the call that it stands for."""

    schema: Schema  # of the deprecated signature
    operator: str  # the name of the function that is called, without overload and without `_out`
    out: bool  # whether the out variant is called
    call: tuple[str, ...]  # the arguments of the call, out arguments first: names of the schema, or constants


class Overload(Struct, frozen=True, gc=False, array_like=True):
    """A function that a binding may call. With a form, its deprecated signature is parsed."""

    function: NativeFunction
    entry: str  # the function's, in native_functions.yaml
    form: DeprecatedForm | None = None
    form_entry: str = ""


class Binding(Struct, frozen=True, gc=False, array_like=True):
    """A name of a module, or a method of Tensor, with its overloads in the order of the spec files."""

    module: str  # `torch`, `torch.nn` and so on; `Tensor` for a method
    name: str  # `add_`
    overloads: tuple[Overload, ...]
