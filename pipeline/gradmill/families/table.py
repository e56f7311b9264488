"""The output families and their templates. A new family is a new folder and its name here, or an extension's."""

from __future__ import annotations

from collections import Counter
from importlib import import_module

from gradmill.doors import extensions, load
from gradmill.families.family import Family
from gradmill.families.hook_files import HOOK_FILES
from gradmill.specs.spec_set import Templates

_FOLDERS = """
    nodes variable_type inplace_or_view trace_type view_funcs factories bindings annotated_args return_types enum_tag
    view_metas view_meta_bindings lazy backend_stubs dispatcher_api backend_select cpp_api kernel_headers
    aggregated_headers kernel_registrations composite_kernels functionalize native_aot_stubs declarations c_shims
""".split()


def _family(folder: str) -> Family:
    family: Family = getattr(import_module(f"gradmill.families.{folder}"), folder.upper())
    return family


# In the order of lists and messages.
_ADDED: list[Family] = [load(name) for extension in extensions().values() for name in extension.families]
_OF_SETS = [*map(_family, _FOLDERS), *(family for family in _ADDED if not family.source), HOOK_FILES]
_OF_OTHERS = [family for family in _ADDED if family.source]
FAMILIES = {family.name: family for family in (*_OF_SETS, *_OF_OTHERS)}
TEMPLATES = Templates(
    tuple(name for family in _OF_SETS for name in family.templates),
    tuple(name for family in _OF_OTHERS for name in family.templates),
)
_USERS = Counter(name for family in FAMILIES.values() for name in family.templates)


def distinctive(family: Family) -> tuple[str, ...]:
    """The templates of which a spec set must have one to have the family: the one it needs, and those that no other
    family has. None if it needs none."""
    return (family.needs, *(name for name in family.templates if _USERS[name] == 1)) if family.needs else ()
