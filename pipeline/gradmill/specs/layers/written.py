"""The description as an author writes it: values and names may be given release by release.

`comment = "x"` is the value for all releases; `comment = [{ value = "x", since = "2.7" }]` for some. Every list of
names may have tables with more names. The types in `description.py` have the values for one release, and `releases.py`
computes these.
"""

from __future__ import annotations

import types
from functools import cache, reduce
from operator import or_
from typing import Annotated, Any, Union, get_args, get_origin, get_type_hints

import msgspec
from msgspec import NODEFAULT, Meta, Struct
from msgspec.structs import FieldInfo

from gradmill.model.layers import Words
from gradmill.specs.layers.description import Bounded, Description, Slot


class NamesForReleases(Bounded, frozen=True, forbid_unknown_fields=True):
    """Names that are in a list for some releases."""

    value: Annotated[Words, Meta(description="one name, or a list of names")]


Path = tuple[str, ...]
_TUPLE: Any = tuple  # for types that are made at run time
_DICT: Any = dict

ONE = ("comment", "template", "templates", "order", "shards")  # keys with a value, or a list of tables with one each
NAMES = ("exclude", "leave_out")  # keys with lists of names, or with one


def is_alternative(path: Path) -> bool:
    """Whether of a list at this path one member applies: of the values of a key, or of the content of a slot."""
    return path[-2:-1] == ("slots",) or path[-1] in ONE


def _written(type_: Any) -> Any:
    """The type of what an author writes for a value of a type."""
    if isinstance(type_, type) and issubclass(type_, Struct):
        return _table(type_)
    inner = get_args(type_)
    if get_origin(type_) is Annotated:
        return Annotated[(_written(inner[0]), *inner[1:])]
    if get_origin(type_) in (Union, types.UnionType):
        return reduce(or_, (_written(each) for each in inner))
    if get_origin(type_) in (dict, tuple):
        return get_origin(type_)[tuple(each if each is ... else _written(each) for each in inner)]
    return type_


@cache
def _table(type_: type[Struct]) -> Any:
    """A table with the same keys, some of which take more than one form; the type itself if none does."""
    hints = get_type_hints(type_, include_extras=True)
    wider = {name: _in_forms(type_, name, hint) for name, hint in hints.items()}
    if wider == hints:
        return type_
    fields = [(field.name, wider[field.name], _default(field)) for field in msgspec.structs.fields(type_)]
    return msgspec.defstruct(
        type_.__name__, fields, namespace={"__doc__": type_.__doc__}, frozen=True, forbid_unknown_fields=True
    )


def _in_forms(owner: type[Struct], name: str, hint: Any) -> Any:
    """The type of what an author writes for a key of a table."""
    type_, *meta = get_args(hint) if get_origin(hint) is Annotated else (hint,)
    wider: Any
    if name in ONE:
        one = _with_meta(type_, [each for each in meta if each.ge is not None])
        table = _for_releases(one, {str: "Text", int: "Number"}.get(type_, f"{owner.__name__}{name.title()}"))
        wider = one | _TUPLE[table, ...]
        meta = [Meta(description=each.description) for each in meta]
    elif name == "slots":
        slot = _table(Slot)
        wider = _DICT[str, str | slot | _TUPLE[slot, ...]]
    elif name in NAMES or type_ in (Words, tuple[str, ...]):
        several = tuple[str | NamesForReleases, ...]
        wider = str | several if name in NAMES or type_ == Words else several
    elif name == "base":
        wider = str | _written(type_)  # the short form has `specs` alone
    else:
        wider = _written(type_)
    return _with_meta(wider, meta)


def _with_meta(type_: Any, meta: list[Meta]) -> Any:
    return Annotated[(type_, *meta)] if meta else type_


@cache
def _for_releases(type_: Any, name: str) -> Any:
    """A table with a value of a type for some releases."""
    value = ("value", Annotated[type_, Meta(description="the value")])
    return msgspec.defstruct(
        f"{name}ForReleases", [value], bases=(Bounded,), frozen=True, forbid_unknown_fields=True, kw_only=True
    )


def _default(field: FieldInfo) -> Any:
    """The name and the default of a key."""
    if field.default_factory is not NODEFAULT:
        return msgspec.field(default_factory=field.default_factory, name=field.encode_name)
    return msgspec.field(default=field.default, name=field.encode_name)


WRITTEN: Any = _written(Description)


def fields_at(path: Path, type_: Any = WRITTEN) -> dict[str, Any]:
    """The keys of the table at a path in a value of a type, each with its type; none if no table can be there."""
    if isinstance(type_, type) and issubclass(type_, Struct):
        fields = {field.encode_name: field.type for field in msgspec.structs.fields(type_)}
        if not path:
            return fields
        return fields_at(path[1:], fields[path[0]]) if path[0] in fields else {}
    inner = get_args(type_)
    if get_origin(type_) is dict:
        return fields_at(path[1:], inner[1]) if path else {}
    if get_origin(type_) is tuple:
        return fields_at(path[1:], inner[0]) if path[:1] and path[0].isdecimal() else {}
    return next(filter(None, (fields_at(path, each) for each in inner)), {})


def meaning_of(path: Path) -> str:
    """What the key at a path is for; "" if no table has it."""
    type_ = fields_at(path[:-1]).get(path[-1])
    return next((each.description or "" for each in get_args(type_) if isinstance(each, Meta)), "")
