"""`specset.toml`: a spec set that is described, layer by layer, and not patched. docs/vendors.md explains every key."""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import Meta, Struct

from pipeline.model.layers import Rewrite, Source, Versions, Words


class SpecFile(Struct, frozen=True, forbid_unknown_fields=True, rename={"lists": "list"}):
    """A file of entries, or a diff of the base's file of this role."""

    file: Annotated[str, Meta(description="path of the file, relative to the description")] = ""
    diff: Annotated[str, Meta(description="path of a unified diff of the base's file, in place of `file`")] = ""
    lists: Annotated[Words, Meta(description="keys of the file's mapping whose lists are the entries")] = ()
    drop: Annotated[Words, Meta(description="keys of entries that are not looked at")] = ()
    keep: Annotated[Words, Meta(description="the only keys of entries that are looked at")] = ()
    versions: Annotated[Versions | None, Meta(description="entries that hold for some releases only")] = None


SpecFiles = str | SpecFile | tuple[str | SpecFile, ...]


class Layer(Struct, frozen=True, forbid_unknown_fields=True):
    """Spec files that are laid over the base and earlier layers."""

    name: Annotated[str, Meta(description="what tells this layer's entries from others")]
    namespace: Annotated[str, Meta(description="of its functions that name none; without it, aten")] = ""
    native: Annotated[SpecFiles, Meta(description="files of functions")] = ()
    tags: Annotated[SpecFiles, Meta(description="files of tags")] = ()
    derivatives: Annotated[SpecFiles, Meta(description="files of derivatives")] = ()
    helpers: Annotated[Words, Meta(description="C++ headers that declare all that their formulas call")] = ()
    since: Annotated[str, Meta(description="the first release that the layer is for")] = ""
    until: Annotated[str, Meta(description="the last release that the layer is for")] = ""


class Base(Struct, frozen=True, forbid_unknown_fields=True):
    """What the layers are laid over."""

    specs: Annotated[str, Meta(description="core, torch, or the path of a folder or wheel; none without it")] = ""
    releases: Annotated[dict[str, str], Meta(description="the same for single releases, in place of `specs`")] = {}
    derivatives: Annotated[
        Literal["add", "alone"], Meta(description="whether the layers' derivatives add to the base's or stand alone")
    ] = "add"
    rewrite: Annotated[tuple[Rewrite, ...], Meta(description="changes of the base's schemas")] = ()
    exclude: Annotated[Words, Meta(description="functions of the base that are left out")] = ()


Taken = Literal["all", "defined", "own"]


class Functions(Struct, frozen=True, forbid_unknown_fields=True):
    """Which functions take part, and in which order."""

    take: Annotated[
        Taken | tuple[Taken, ...],
        Meta(
            description="all; `defined`: those whose name, or base name, has a definition; `own`: those that are not"
            " in the base's native_functions.yaml; a list takes those that one of its words takes"
        ),
    ] = "all"
    exclude: Annotated[Words, Meta(description="functions that get no kernels")] = ()
    order: Annotated[Literal["name", "file"], Meta(description="by C++ name, or as they are written")] = "name"


class Facts(Struct, frozen=True, forbid_unknown_fields=True):
    """What is added to the facts of the release."""

    since: Annotated[str, Meta(description="the first release that this holds for")] = ""
    until: Annotated[str, Meta(description="the last release that this holds for")] = ""
    add: Annotated[dict[str, tuple[str, ...] | dict[str, str]], Meta(description="members of lists and tables")] = {}
    remove: Annotated[dict[str, tuple[str, ...]], Meta(description="members that are taken out")] = {}


class Slot(Struct, frozen=True, forbid_unknown_fields=True):
    """What goes into a hole of a template."""

    piece: Annotated[str, Meta(description="the piece of each unit; the family says which there are")] = ""
    of: Annotated[Words, Meta(description="which functions: words that all must hold, `rest`, or names")] = "all"
    text: Annotated[str | None, Meta(description="fixed text, in place of a piece")] = None
    before: Annotated[str, Meta(description="in a raw file, what stands before each unit's piece")] = ""
    after: Annotated[str, Meta(description="in a raw file, what stands after each unit's piece")] = ""
    between: Annotated[str, Meta(description="in a raw file, what stands between two pieces")] = "\n"


class Replace(Struct, frozen=True, forbid_unknown_fields=True, rename={"from_": "from"}):
    """Plain text that is replaced in what a family prints of a unit."""

    from_: Annotated[str, Meta(description="the text; ${name}, ${operator} and so on stand for the function's")]
    to: Annotated[str, Meta(description="what it becomes")]
    of: Annotated[Words, Meta(description="which functions: words that all must hold, or a list of names")] = "all"
    pieces: Annotated[Words, Meta(description="these pieces only")] = ()


class Edit(Struct, frozen=True, forbid_unknown_fields=True, rename={"from_": "from"}):
    """Plain text that is replaced in a template."""

    from_: Annotated[str, Meta(description="the text")]
    to: Annotated[str, Meta(description="what it becomes")]


class Wrap(Struct, frozen=True, forbid_unknown_fields=True):
    """Text that is put around a piece, which stands where it says ${text}."""

    text: Annotated[str, Meta(description="what the piece becomes, with ${text} for the piece")]
    pieces: Annotated[Words, Meta(description="these pieces")] = ("registration",)
    of: Annotated[Words, Meta(description="which functions: words that all must hold, or a list of names")] = "all"


class OutputFile(Struct, frozen=True, forbid_unknown_fields=True):
    """One file of a family, or its shards."""

    name: Annotated[str, Meta(description="what it is called; of shards, with ${shard}")] = ""
    template: Annotated[str, Meta(description="path of its template, relative to the description")] = ""
    comment: Annotated[str, Meta(description="what ${generated_comment} is filled with")] = ""
    slots: Annotated[dict[str, str | Slot], Meta(description="what goes into the template's holes")] = {}
    functions: Annotated[Words, Meta(description="which functions are in it: words, or a list of names")] = "all"
    raw: Annotated[bool, Meta(description="whether pieces are neither trimmed nor indented")] = False
    sharded: Annotated[bool, Meta(description="whether it is one of the shards' files")] = False


class Family(Struct, frozen=True, forbid_unknown_fields=True):
    """How an output family is printed for this set."""

    templates: Annotated[str, Meta(description="folder of templates, relative to the description")] = ""
    comment: Annotated[str, Meta(description="what ${generated_comment} is filled with; ${template} is the name")] = ""
    shards: Annotated[int, Meta(description="how many shards there are; 0: as upstream", ge=0, le=512)] = 0
    everything: Annotated[bool, Meta(description="whether there is a file with all shards")] = True
    functions: Annotated[Words, Meta(description="which functions: words that all must hold, or names")] = "all"
    files: Annotated[tuple[str, ...], Meta(description="which of the files are made, by their templates")] = ()
    file: Annotated[dict[str, OutputFile], Meta(description="single files, by the names of their templates")] = {}
    slots: Annotated[dict[str, str | Slot], Meta(description="what goes into holes, whatever the template")] = {}
    keys: Annotated[dict[str, str], Meta(description="dispatch keys of derivatives -> of registrations")] = {}
    library: Annotated[str, Meta(description="the namespace of registrations")] = ""
    leave_out: Annotated[tuple[str, ...], Meta(description="parts of kernels that are not printed")] = ()
    not_unpacked: Annotated[tuple[str, ...], Meta(description="functions whose arguments are taken as they are")] = ()
    foreach_bindings: Annotated[bool, Meta(description="whether Nodes of foreach functions get bindings too")] = False
    replace: Annotated[tuple[Replace, ...], Meta(description="text that is replaced")] = ()
    wrap: Annotated[tuple[Wrap, ...], Meta(description="text around pieces")] = ()
    in_templates: Annotated[tuple[Edit, ...], Meta(description="text that is replaced in templates")] = ()


class Description(Struct, frozen=True, forbid_unknown_fields=True, rename={"layers": "layer"}):
    """A spec set, described."""

    name: Annotated[str, Meta(description="names the set's folders; without it, the description's folder does")] = ""
    release: Annotated[str, Meta(description="the PyTorch release, where the base does not say it")] = ""
    families: Annotated[
        tuple[str, ...], Meta(description="the outputs that are made; without it, all that can be")
    ] = ()
    comment: Annotated[str, Meta(description="what ${generated_comment} is filled with, in all families")] = ""
    base: Annotated[Base, Meta(description="what the layers are laid over")] = Base()
    layers: Annotated[tuple[Layer, ...], Meta(description="the layers, in their order")] = ()
    functions: Annotated[Functions, Meta(description="which functions take part")] = Functions()
    facts: Annotated[tuple[Facts, ...], Meta(description="additions to the facts of the release")] = ()
    family: Annotated[dict[str, Family], Meta(description="how families are printed")] = {}


class Described(Struct, frozen=True, array_like=True):
    """A described set as the stages know it: no path of a machine is in it."""

    description: Description
    sources: tuple[Source, ...]  # the files of entries, in their order
    templates: dict[str, dict[str, str]]  # family -> name of a template -> what it goes by among the inputs
