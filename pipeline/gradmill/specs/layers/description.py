"""`specset.toml`: the description of a spec set as layers over a base. docs/vendors.md explains every key."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Literal

from msgspec import Meta, Struct, field

from gradmill.model.layers import TEXT, HookFile, Rewrite, SpecSource, Versions, Words, form
from gradmill.releases.model import Part
from gradmill.specs.layers.releases import Bounded, Moved, OfRelease


def means(text: str) -> Meta:
    """What a key is for: `gradmill explain` and the JSON Schema say so."""
    return Meta(description=text)


_PLAIN = r"^[^/\\.\x00-\x1f\x7f][^/\\\x00-\x1f\x7f]*$"  # of files and folders
_Folder = Annotated[str, form("cannot name a folder", "write a plain name", pattern=_PLAIN)]
_File = Annotated[str, form("cannot name a file", "write a plain name", pattern=_PLAIN)]
_LAYER = form("is not a valid layer name", "write letters, digits, - and _", pattern=r"^[\w.+-]+$")
_NAMESPACE = form("is not a namespace", "write a C++ identifier", pattern=r"^([A-Za-z_]\w*)?$")
_REASON = form("is no reason", "write why the warning does not apply", pattern=r"\S")
_SOME = form("names nothing", "leave it out, or name some", min_length=1)


class TextForReleases(Bounded, frozen=True, forbid_unknown_fields=True):
    """A text for some releases."""

    value: Annotated[str, means("the value")]


class SpecFile(Bounded, frozen=True, forbid_unknown_fields=True, rename={"lists": "list"}):
    """A file of entries, or a diff of the base's file of this role."""

    file: Annotated[str, means("path of the file, relative to the description")] = ""
    diff: Annotated[str, means("path of a unified diff of the base's file, in place of `file`")] = ""
    lists: Annotated[Words, means("keys of the file's mapping with lists of entries")] = ()
    drop: Annotated[Words, means("keys of entries to ignore")] = ()
    keep: Annotated[Words, means("keys of entries to read; all others are ignored")] = ()
    versions: Annotated[Versions | None, means("how entries name the releases that they are valid for")] = None

    def __post_init__(self) -> None:
        super().__post_init__()
        if bool(self.file) == bool(self.diff):
            raise ValueError("write either file = … or diff = …")
        if self.diff and (self.lists or self.drop or self.keep or self.versions):
            raise ValueError("list, drop, keep and versions have no effect with a diff")
        if self.drop and self.keep:
            raise ValueError("keep already ignores all other keys: remove drop, or keep")


_Path = Annotated[str, _SOME]
SpecFiles = _Path | SpecFile | tuple[_Path | SpecFile, ...]


class Layer(Bounded, frozen=True, forbid_unknown_fields=True):
    """Spec files on top of the base and earlier layers."""

    name: Annotated[str, _LAYER, means("name of the layer, part of the identity of its entries")]
    namespace: Annotated[str, _NAMESPACE, means("namespace of functions that name none; without it, aten")] = ""
    native: Annotated[SpecFiles, means("files of functions")] = ()
    tags: Annotated[SpecFiles, means("files of tags")] = ()
    derivatives: Annotated[SpecFiles, means("files of derivatives")] = ()
    helpers: Annotated[Words, means("C++ headers that declare every function which the formulas call")] = ()


class Base(Struct, frozen=True, forbid_unknown_fields=True):
    """The spec set under the layers."""

    specs: Annotated[str, means("core, torch, or the path of a folder or wheel; none without it")] = ""
    releases: Annotated[dict[OfRelease, str], means("the same for single releases, in place of `specs`")] = {}
    derivatives: Annotated[
        Literal["add", "alone"], means("whether the layers' derivatives add to the base's or replace them")
    ] = "add"
    rewrite: Annotated[tuple[Rewrite, ...], means("changes of the base's schemas")] = ()


if TYPE_CHECKING:  # as they apply to one release
    Text = str
    OneBase = Base
else:
    Text = str | tuple[TextForReleases, ...]
    OneBase = str | Base  # the short form has `specs` alone


class Backend(Bounded, frozen=True, forbid_unknown_fields=True):
    """What the stubs of the backend are generated from."""

    file: Annotated[str, means("the YAML file that lists its operators")]
    kernels: Annotated[str, means("a C++ file that must define its kernels")] = ""


class Marks(Bounded, frozen=True, forbid_unknown_fields=True, rename={"lists": "list"}):
    """A file that lists operators of any layer. Selections have words for its lists and for keys of its items."""

    file: Annotated[str, means("path of the YAML file, relative to the description")]
    lists: Annotated[Words, means("keys of the file's mapping with lists of operators")] = ()


class Ignore(Bounded, frozen=True, forbid_unknown_fields=True):
    """A warning that is not reported for this set."""

    rule: Annotated[str, means("the name of the warning's rule, as reports print it in brackets")]
    reason: Annotated[str, _REASON, means("why the warning does not apply")]
    entries: Annotated[Words, means("operators whose entries it is silenced for; without it, all")] = ()


TAKE = ("all", "defined", "own")


class Functions(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """Which functions get kernels, and in which order."""

    take: Annotated[
        str | Annotated[tuple[str, ...], _SOME],
        means(
            "all; `defined`: functions with a definition for their name or base name; `own`: functions that are not in"
            " the base's native_functions.yaml; `tag:core`, `layer:npu`, `key:exposed`; a list selects the union"
        ),
    ] = "all"
    exclude: Annotated[Words, means("functions that get no kernels")] = ()
    order: Annotated[
        Literal["name", "file", "derivatives"], means("by C++ name, as they are written, or as their definitions are")
    ] = "name"


class Facts(Bounded, frozen=True, forbid_unknown_fields=True):
    """Changes to the facts of the release."""

    add: Annotated[dict[str, tuple[str, ...] | dict[str, str]], means("members of lists and tables")] = {}


class Slot(Struct, frozen=True, forbid_unknown_fields=True):
    """The content of a hole in a template."""

    piece: Annotated[str, means("the piece of each unit; the family defines which exist")] = ""
    of: Annotated[Words, means("which functions: words that must all match, `rest`, or names")] = "all"
    text: Annotated[str | None, means("fixed text, in place of a piece")] = None
    before: Annotated[str, means("in a raw file, text before each unit's piece")] = ""
    after: Annotated[str, means("in a raw file, text after each unit's piece")] = ""
    between: Annotated[str, means("in a raw file, text between two pieces")] = "\n"


class Replace(Bounded, frozen=True, forbid_unknown_fields=True, rename={"from_": "from"}):
    """A replacement of plain text in the pieces that a family prints for a unit."""

    from_: Annotated[str, TEXT, means("the text; ${name}, ${operator} and so on stand for the function's")]
    to: Annotated[str, means("the text to put in its place")]
    of: Annotated[Words, means("which functions: words that must all match, or a list of names")] = "all"


class OutputFile(Struct, frozen=True, forbid_unknown_fields=True):
    """One file of a family, or its shards."""

    template: Annotated[str, means("path of its template, relative to the description")] = ""
    comment: Annotated[Text, means("the value of ${generated_comment}")] = ""
    slots: Annotated[dict[str, str | Slot], means("the content of the template's holes")] = {}
    raw: Annotated[bool, means("whether pieces are neither trimmed nor indented")] = False


class Family(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """Settings of an output family for this set."""

    templates: Annotated[Text, means("folder of templates, relative to the description")] = ""
    comment: Annotated[Text, means("the value of ${generated_comment}; ${template} is the name")] = ""
    shards: Annotated[int, Meta(description="number of shards; 0: as upstream", ge=0, le=512)] = 0
    everything: Annotated[bool, means("whether there is a file with all shards")] = True
    functions: Annotated[Words, means("which functions: words that must all match, or names")] = "all"
    files: Annotated[tuple[str, ...], _SOME, means("which files to generate, by their templates")] = ()
    file: Annotated[dict[_File, OutputFile], means("single files, by the names of their templates")] = {}
    slots: Annotated[dict[str, str | Slot], means("the content of holes in any template")] = {}
    keys: Annotated[dict[str, str], means("dispatch keys of derivatives -> of registrations")] = {}
    leave_out: Annotated[tuple[Part, ...], means("parts of kernels to leave out")] = ()
    foreach_bindings: Annotated[bool, means("whether Nodes of foreach functions get bindings too")] = False
    replace: Annotated[tuple[Replace, ...], means("replacements of text")] = ()


class Description(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """The whole `specset.toml`, as it applies to one release."""

    name: Annotated[_Folder, means("names the set's folders; without it, the description's folder does")] = ""
    release: Annotated[OfRelease, means("the PyTorch release, if the base does not name it")] = ""
    families: Annotated[tuple[str, ...], _SOME, means("the outputs to generate; without it, the default ones")] = ()
    comment: Annotated[Text, means("the value of ${generated_comment} in all families")] = ""
    hooks: Annotated[str, means("the Python file whose functions change what is printed")] = ""
    base: Annotated[OneBase, means("the spec set under the layers")] = Base()
    layers: Annotated[tuple[Layer, ...], means("the layers, in order")] = field(default=(), name="layer")
    backends: Annotated[tuple[Backend, ...], means("the backend, for backend_stubs; one at most applies")] = field(
        default=(), name="backend"
    )
    marks: Annotated[tuple[Marks, ...], means("files that list operators, for selections")] = ()
    functions: Annotated[Functions, means("which functions get kernels")] = Functions()
    facts: Annotated[tuple[Facts, ...], means("changes to the facts of the release")] = ()
    family: Annotated[dict[str, Family], means("settings of output families")] = {}
    ignore: Annotated[tuple[Ignore, ...], means("warnings that are not reported")] = ()


class Described(Struct, frozen=True, array_like=True):
    """A described set as the stages read it. It contains no path of this machine."""

    description: Description
    sources: tuple[SpecSource, ...]  # the files of entries, in order
    templates: dict[str, dict[str, str]]  # family -> template name -> label among the inputs
    moved: Moved = {}
    hooks: HookFile | None = None
