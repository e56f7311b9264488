"""Who calls an operator or a helper: formulas, and functions in files of extensions. An index by target, of which a
page reads its own item.
"""

from __future__ import annotations

from gradmill.cpp.overloads import SYMINT
from gradmill.extensions.browse.page import added
from gradmill.extensions.browse.page.model import Ref, User
from gradmill.extensions.browse.page.names import helper_page, node_anchor, operator_page_of, page_of, source_page
from gradmill.extensions.browse.page.relations import members, refs
from gradmill.lints.known import ATEN, CALL, METHOD
from gradmill.query.database import Database
from gradmill.query.query import query, table
from gradmill.reports.calls import Call, all_calls
from gradmill.reports.helpers import all_helpers
from gradmill.stages import infos
from gradmill.stages.formulas.vocabulary import declarations
from gradmill.stages.schemas import all_heads
from gradmill.stages.set import spec_set

_ATEN = "aten"  # the namespace whose functions formulas call by name


# ---- what can be called


@table
def helpers(db: Database) -> dict[str, list[tuple[str, str]]]:
    """The helpers of the set by name: the header and the text of each declaration, as in `all_helpers`."""
    named = {name: [(each.header, each.text) for each in found] for name, found in all_helpers(db).items()}
    return dict(sorted(named.items(), key=lambda item: (item[0].lstrip("_").lower(), item[0])))


@query
def header_lines(db: Database, header: str) -> dict[str, int]:
    """The line of each declaration in a header, by its anchor: the helper, and its number from the second one on."""
    return {
        declaration_anchor(name, at): line
        for name, each in declarations(db, header).items()
        for at, (line, _) in enumerate(each)
    }


def declaration_anchor(name: str, at: int) -> str:
    """The anchor of a helper's declaration on its header's page. `at`: how many of its name precede it there."""
    return name if at == 0 else f"{name}-{at + 1}"


@table
def callables(db: Database) -> dict[str, str]:
    """The page of each function that formulas can call, by its C++ name, prefixed by how it is called."""
    shown = {name for page in members(db).values() for name in page}
    pages: dict[str, str] = {}
    for name, head in all_heads(db):
        if name in shown and head.namespace == _ATEN:
            for kind, possible in ((ATEN, head.callable), (METHOD, head.method)):
                if possible:
                    pages.setdefault(kind + head.cpp_name, page_of(head))
    return dict(sorted(pages.items()))


def target_of(db: Database, call: Call) -> str:
    """The page of what a formula calls, "" if it has none: a helper, or a function of the set."""
    if call.kind == CALL and helpers.item(db, call.name) is not None:
        return helper_page(call.name)
    kind = METHOD if call.kind == METHOD else ATEN
    page = callables.item(db, kind + call.name)
    if page is None and call.name.endswith(SYMINT):
        page = callables.item(db, kind + call.name.removesuffix(SYMINT))
    return "" if page is None else operator_page_of(page)


# ---- who calls it


@table
def callers(db: Database) -> dict[str, list[User]]:
    """The entries whose formulas call what a page is about, by that page, in the order of the file."""
    owners = entry_refs(db)
    found: dict[str, dict[Ref, dict[str, None]]] = {}
    for each in (each for each in all_calls(db) if each.entry in owners):
        for page in dict.fromkeys(target_of(db, call) for call in dict.fromkeys(each.called)):
            if page:
                found.setdefault(page, {}).setdefault(owners[each.entry], {})[each.field] = None
    return {page: [User(ref, tuple(fields)) for ref, fields in users.items()] for page, users in sorted(found.items())}


@query
def entry_refs(db: Database) -> dict[str, Ref]:
    """The derivatives that each entry of derivatives.yaml defines: on the page of its operator."""
    links = refs(db)
    owners: dict[str, Ref] = {}
    for row in infos.rows(db).values():
        ref = links.get(row.function)
        if ref is not None and not row.is_copy:
            anchor = node_anchor(row.node or "", ref.title, row.dispatch_key)
            owners.setdefault(row.definition, Ref(ref.page, anchor, ref.title))
    return owners


@table
def callers_in_added(db: Database) -> dict[str, list[Ref]]:
    """The functions in files of extensions that call an operator, by its page, and that use a Node, by page and
    anchor."""
    found: dict[str, list[Ref]] = {}
    for extension in (family.row.source for family in added.families(db)):
        for key, ref in added.functions(db, extension):
            pages = (link.page for link in added.operators_called(db, extension, *key))
            used = (node_place(each.page, each.anchor) for each in added.nodes_used(db, extension, *key))
            for place in dict.fromkeys((*pages, *used)):
                found.setdefault(place, []).append(ref)
    return found


def node_place(page: str, anchor: str) -> str:
    """The key of a Node in `callers_in_added`."""
    return f"{page}#{anchor}"


def headers(db: Database) -> dict[str, str]:
    """The headers of the set that declare helpers, each with its page."""
    return {header: source_page(header) for header in spec_set(db).headers if header_lines(db, header)}
