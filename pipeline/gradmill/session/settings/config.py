"""The configuration of a run: reads and checks the variables of the command line."""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from msgspec import Struct
from msgspec.structs import replace

from gradmill.doors import load, loaded, readers
from gradmill.families.rows import FAMILY_ROWS, HOOK_FILES, TEMPLATES, distinctive
from gradmill.families.subsets import ALL, SUBSETS, prints_any, requested_files
from gradmill.families.table import FAMILIES
from gradmill.model.aten import USUAL, AtenRequest
from gradmill.model.layers import role_of
from gradmill.model.requested_files import EVERYWHERE, RequestedFiles
from gradmill.problems.plain import lines
from gradmill.problems.problem import SpecError, nearest
from gradmill.releases import KNOWN, agreed_version, minor, newest_at, resolve, resolve_version
from gradmill.session.settings.reader import locate
from gradmill.session.settings.variables import FILES, GENERATED, REVISION, SET, VARIABLES, read_variables
from gradmill.specs.find import find_spec_set, with_generator
from gradmill.specs.location import (
    AOT_MODULE,
    EXTERNAL,
    EXTERNAL_KERNELS,
    NATIVE_AOT,
    OPERATORS,
    SHIM_HEADER,
    Location,
    nearest_file,
)
from gradmill.specs.spec_set import FILE_NAMES, OPTIONAL, SpecSet

if TYPE_CHECKING:
    from gradmill.releases.model import Release

NO_FIX, NO_FIX_HINT = "fix=1: only check fixes files", "write gradmill check fix=1, then run"
SOURCES, SHIM_HEADERS = "sources", "shim_headers"  # subsets with sources and headers of AOTInductor's C functions
TAGS = "core/enum_tag.h"  # the file that `headeronly=` moves
OUTPUT_LISTS = ("", "cpu_vec_", "core_", "ops_", "cuda_")  # the lists of ATen's files, by the prefixes of their names
_INPUTS = {  # variables that name a file -> its key among the set's files, and a name as it may have
    "operators": (OPERATORS, "selected_operators.yaml"),
    "backend_yaml": (EXTERNAL, "npu_native_functions.yaml"),
    "backend_kernels": (EXTERNAL_KERNELS, "npu_kernels.cpp"),
}
# Variables whose values a configuration has as they are.
_AS_READ = ("strict layout shards native_aot operators format fix").split()


class Config(Struct, frozen=True):
    """A spec set, the release it is read as, the folders, and the options of a run."""

    specs: SpecSet
    release: str  # minor release
    generated: str
    cache: str
    strict: bool
    layout: str = "upstream"
    shards: int = 16  # of the split layout
    stamp: str = ""  # a file with the digest of all results, for other build systems
    depfile: str = ""  # a file with all inputs of the run, as a rule of Make
    outputs: str = ""  # a file with all generated files, as variables of CMake
    warning: str = ""  # about the release
    added: dict[str, Any] = {}  # what extensions read of their own: `Added` by the extension's name
    families: tuple[str, ...] = ()  # the output families to generate; empty: those by default
    requested: RequestedFiles = EVERYWHERE  # which of their files are generated, and in which folders
    operator_headers: bool | None = None  # whether ATen has a header for each operator; None: by default, which is so
    # for ATen's files, and for others not
    format: str = "text"  # of problems, one of problems.formats.FORMATS; also of reports that support it
    fix: bool = False  # whether `check` applies the fixes that are certain
    aten: AtenRequest = USUAL  # the options of a build of ATen
    cmake_lists: str = ""  # a file with torchgen's list of generated files
    native_aot: str = ""  # the folder with modules that declare kernels compiled ahead of time
    operators: str = ""  # the file of selected operators; "": all are selected
    lines: bool = False  # whether generated sources have `#line` directives for formulas
    more: dict[str, Any] = {}  # the values of extensions' variables, by name
    options: dict[str, str] = {}  # what a command takes in place of some variables: variable -> option

    @property
    def overwrites(self) -> bool:
        """Whether any file at the place of a generated one is overwritten: by commands in the place of PyTorch's
        scripts, which do so, too."""
        return bool(self.options)

    def option(self, name: str, value: str) -> str:
        """How to give a variable another value, for hints: `generated=DIR`, or the option that replaces it."""
        return f"{self.options.get(name, f'{name}=')}{value}"

    @property
    def line_paths(self) -> dict[str, object] | None:
        """The paths for `#line` directives, as the user wrote them. None without `lines=1`."""
        named = {key: str(at) for key, at in self.specs.files.items()}
        return {"specs": named, "generated": self.generated} if self.lines else None

    @property
    def includes(self) -> dict[str, object] | None:
        """How generated files include others. None if those of no requested family do, or ATen's as by default."""
        requested = self.families or _of_description(self.specs)
        printing = [name for name in FAMILY_ROWS if name in requested and FAMILIES[name].unit == "backend"]
        folders = {name: self._included_from(name) for name in printing}
        of_aten = any("aten" in FAMILY_ROWS[name].subsets for name in self.families)
        aggregated = self.operator_headers is False and of_aten
        return {"folders": folders, "operator_headers": self.operator_headers} if folders or aggregated else None

    def _included_from(self, family: str) -> str:
        """The folder by which the files of a family include one another: in a tree the path that PyTorch's script
        prints, in one folder that of a checkout."""
        place, folder = FAMILY_ROWS[family].in_trees, self.requested.folders.get(family, "")
        if not place.checkout:  # as the user names it
            return self.generated
        if not folder or (folder == place.checkout and os.path.normpath(self.generated) == os.curdir):
            return place.checkout
        root = self.generated if folder == place.csrc else os.path.normpath(self.generated)
        return os.path.join(root, folder)

    @property
    def release_warning(self) -> str:
        """The warning as a separate line, "" for none. Reports in other formats than text and github contain it."""
        return lines([f"warning: {self.warning}"]) if self.warning and self.format in ("text", "github") else ""

    @property
    def folder(self) -> str:
        """The set's own folder in the cache."""
        return os.path.join(self.cache, self.specs.name)

    @property
    def build_files(self) -> list[tuple[str, str]]:
        """The files, next to the manifest, that describe the build to other build systems: pairs of variable, path."""
        named = [("stamp", self.stamp), ("depfile", self.depfile), ("outputs", self.outputs)]
        lists = [("cmake_lists", path) for path in self.output_lists.values()]
        return [*((name, path) for name, path in named if path), *lists]

    @property
    def output_lists(self) -> dict[str, str]:
        """The files with lists of ATen's files, by the prefix of their names; as torchgen.gen writes them."""
        if not self.cmake_lists:
            return {}
        folder, name = os.path.split(self.cmake_lists)
        prefixes = (*OUTPUT_LISTS, *(f"{name}_" for name in self.aten.backends if name == "xpu"))
        return {prefix: os.path.join(folder, prefix + name) for prefix in prefixes}

    @property
    def families_by_folder(self) -> dict[str, tuple[str, ...]]:
        """The folders of generated files, each with the families that have files there or may have had some: all of
        them if there is one folder, the requested ones in a tree, which other builds may share."""
        if not self.requested.tree:
            return {self.generated: tuple(FAMILY_ROWS)}
        at = {
            name: os.path.normpath(os.path.join(self.generated, folder))
            for name, folder in self.requested.folders.items()
        }
        return {folder: tuple(name for name in at if at[name] == folder) for folder in at.values()}

    def prints(self, subsets: Iterable[str]) -> bool:
        """Whether some requested file is one of these subsets. A description may print such text into any file."""
        return self.specs.described is not None or prints_any(self.families, self.requested, subsets)

    @property
    def arrangement(self) -> tuple[str, int]:
        """The layout and its number of shards, 0 if the layout determines it."""
        return self.layout, self.shards if self.layout == "split" else 0


def read_specs(variables: Mapping[str, str]) -> SpecSet:
    """The spec set that `name=value` arguments name. SpecError if there is none, or its description is not valid."""
    return find_spec_set(variables.get("specs", "core"), TEMPLATES, variables.get("release", ""))


def read_config(variables: Mapping[str, str], options: Mapping[str, str] | None = None) -> Config:
    """The configuration from `name=value` arguments. `options`: as in Config; errors name them. SpecError for an
    unknown name, or a value that is not valid."""
    try:
        config = _read_config(variables)
        return config if options is None else replace(config, options=dict(options))
    except SpecError as error:
        if options is None:
            locate(error, variables)
        if options is None or error.rendered:
            raise
        problem, hint = error.problem, error.hint
        for name, option in options.items():
            for pattern, text in ((rf"\b{name}=(?=[,\s]|$)", option.rstrip()), (rf"\b{name}=", option)):
                problem, hint = (re.sub(pattern, text, each) for each in (problem, hint))
        raise SpecError(problem, hint) from error


def _read_config(variables: Mapping[str, str]) -> Config:
    values = read_variables(variables)
    specs = read_specs(variables)
    release, warning = _release(specs, variables)
    for value in (*variables.values(), specs.name):
        _check_text(value)
    if values["lines"] and "\n" in "".join(variables.values()):
        raise SpecError("lines=1: a #line directive cannot name a file with a line end in its path", "rename it")
    located = {key: Location(path) for name, (key, _) in _INPUTS.items() if (path := _file(name, values[name]))}
    specs = replace(specs, files={**specs.files, **located})
    if values["native_aot"]:
        specs = _with_native_aot(specs, values["native_aot"])
    added = {name: own for name, reads in readers().items() if (own := load(reads.added)(values)) is not None}
    operator_headers = values["operator_headers"] if "operator_headers" in variables else None
    of_operators = operator_headers is not False
    families = _generated(variables, specs, release, added, autograd=values["autograd"], of_operators=of_operators)
    specs = _with_shim_headers(_with_files(specs, families), values, release)
    if values["backend_yaml"] and EXTERNAL not in specs.files:
        problem = f"backend_yaml={values['backend_yaml']}: no requested family reads it"
        raise SpecError(problem, "also write families=backend_stubs")
    generated = (values["generated"] or GENERATED).replace(SET, specs.name)
    as_read: dict[str, Any] = {name: values[name] for name in _AS_READ}
    as_read |= {name: _file(name, values[name]) for name in FILES}
    return Config(
        _with_generator(specs, release),
        release,
        generated,
        values["cache"] or VARIABLES["cache"].default,
        warning=warning,
        added=added,
        more={name: values[name] for variables in loaded("variables") for name in variables()},
        families=families,
        aten=_aten(values, specs, release),
        requested=_requested_files(specs, values, generated),
        operator_headers=operator_headers,
        lines=values["lines"],
        **as_read,
    )


def _release(specs: SpecSet, variables: Mapping[str, str]) -> tuple[str, str]:
    """The minor release that a set is read as, and a warning about it, "" for none. SpecError if it is unknown."""
    requested = variables.get("release", "")
    own = _own_version(specs, requested)
    version = agreed_version(requested, own, specs.version_file or specs.name)
    if not version:
        raise SpecError(
            f"specs={variables.get('specs', 'core')}: the spec set does not name its PyTorch release",
            f"write release=X.Y.Z, one of {', '.join(KNOWN)}",
        )
    release, warning = resolve_version(version, "" if requested else specs.version_file)
    for name, variable in VARIABLES.items():
        if variables.get(name) and variable.since and newest_at(release, [variable.since]) is None:
            raise SpecError(
                f"{name}={variables[name]}: this is for PyTorch {variable.since} and newer, not for {release}",
                f"leave out {name}=, or name the spec set of a newer release",
            )
    if own != specs.version:
        warning = f"{specs.version_file}: PyTorch {specs.version} is not known; it is read as {release}"
    return release, warning


def read_against(variables: Mapping[str, str], *more: str) -> Config:
    """The configuration of the spec set that `against=` names, for comparisons. `more`: variables that apply to it,
    too. SpecError as in `read_config`."""
    if not variables.get("against"):
        raise SpecError("there is nothing to compare with", "write against=core, against=torch, a folder or a .whl")
    if variables["against"].startswith(REVISION):
        raise SpecError(
            f"against={variables['against']}: only diff and verify read a revision", "write gradmill diff against=…"
        )
    shared = ("cache", "strict", "format", "operators", *more)
    other = {name: variables[name] for name in shared if name in variables}
    try:
        return read_config({**other, "specs": variables["against"], "release": variables.get("against_release", "")})
    except SpecError as error:
        if error.rendered:
            raise
        problem = error.problem.replace("specs=", "against=", 1)
        raise SpecError(problem, error.hint.replace("release=", "against_release=")) from error


def _own_version(specs: SpecSet, requested: str) -> str:
    """The release that a set states, "" if it is unknown and `requested` replaces it.

    A checkout may be newer than all known releases, and need not follow the rules of the newest one: the user chooses.
    """
    known = [minor(version) for version in KNOWN]
    if not specs.in_development or not specs.version or minor(specs.version) in known:
        return specs.version
    if not requested:
        raise SpecError(
            f"{specs.version_file}: PyTorch release '{specs.version}' is not known",
            f"known releases: {', '.join(KNOWN)}; release={known[-1]} reads the checkout as that one",
        )
    return ""


def _generated(
    variables: Mapping[str, str],
    specs: SpecSet,
    release: str,
    added: Collection[str],
    *,
    autograd: bool,
    of_operators: bool,
) -> tuple[str, ...]:
    """The families to generate; none for those by default. `autograd=0` leaves out those that register kernels, as
    upstream's --disable-autograd does. SpecError if it leaves out one that `families=` names, or all. `of_operators`:
    whether each operator has headers in ATen."""
    value = variables.get("families", "")
    possible = [name for name, row in FAMILY_ROWS.items() if row.of_operators in (None, of_operators)]
    families = _families(value, specs, release, possible, added)
    if autograd:
        return families
    registering = [name for name, family in FAMILIES.items() if family.registered is not None]
    named = [name for name in registering if name in value.split(",")]
    if named:
        hint = "leave it out of families=, too, or leave out autograd=0"
        raise SpecError(f"families={value}: autograd=0 leaves out '{named[0]}'", hint)
    by_default = [name for name, row in FAMILY_ROWS.items() if row.by_default]
    wanted = families or [*(_of_description(specs) or by_default), HOOK_FILES]
    left = tuple(name for name in wanted if name not in registering)
    if not left:
        raise SpecError("autograd=0: no other family is generated", "name some with families=")
    return left


def _of_description(specs: SpecSet) -> tuple[str, ...]:
    """The families that a description names, or else configures."""
    described = specs.described.description if specs.described is not None else None
    return (described.families or tuple(described.family)) if described is not None else ()


def _with_native_aot(specs: SpecSet, folder: str) -> SpecSet:
    """The set with the modules of operators in a folder. SpecError if there is no such folder."""
    if not os.path.isdir(folder):
        raise SpecError(f"native_aot={folder}: there is no such folder", "write native_aot=torch/_native/ops")
    paths = {name: os.path.join(folder, name, AOT_MODULE) for name in sorted(os.listdir(folder))}
    modules = {f"{NATIVE_AOT}:{name}": Location(path) for name, path in paths.items() if os.path.isfile(path)}
    looked_for = (*specs.looked_for, folder, *paths.values())
    return replace(specs, files={**specs.files, **modules}, looked_for=looked_for)


def _file(name: str, path: str) -> str:
    """The checked value of a variable that names a file. SpecError for a folder, and if an input is missing."""
    if os.path.isdir(path):
        hint = f"name a file, as {_INPUTS[name][1]}" if name in _INPUTS else "name a file"
        raise SpecError(f"{name}={path}: this is a folder", hint)
    if name in _INPUTS and path and not os.path.exists(path):
        raise SpecError(f"{name}={path}: there is no such file", nearest_file(path))
    return path


def _families(
    value: str, specs: SpecSet, release: str, possible: Sequence[str], added: Collection[str]
) -> tuple[str, ...]:
    """The families in a `families=` value, each once, in the order of the table. `all` names every one of those that
    such a build has, `possible`, and those without templates are omitted; a subset of PyTorch's build stands for the
    families with files of it. SpecError for a named family that cannot be generated."""
    if not value:
        return ()
    if value == ALL:
        return tuple(
            name
            for name, row in FAMILY_ROWS.items()
            if name in possible
            and (not row.source or row.source in added)
            and (not row.needs_file or row.needs_file in specs.files)
        )
    facts = resolve(release)
    asked = [each for word in value.split(",") for each in _members(word, facts, specs, possible)]
    if not asked:
        needed = (row.needs_file for row in FAMILY_ROWS.values() if value in row.subsets)
        lacking = next(filter(None, needed), "")
        if lacking and lacking not in specs.files:
            problem = f"families={value}: the spec set has no {FILE_NAMES[lacking]}, from which these files are made"
            raise SpecError(problem, "name a checkout")
        raise SpecError(f"families={value}: PyTorch {release} has no such files", "name other families")
    for name in asked:
        if name not in FAMILY_ROWS:
            known = (*FAMILY_ROWS, *SUBSETS)
            hint = nearest(name, known) or f"write some of {', '.join(known)}, with commas between them, or {ALL}"
            raise SpecError(f"families={value}: there is no family '{name}'", hint)
        if name not in possible:
            form = f"operator_headers={int(FAMILY_ROWS[name].of_operators or False)}"
            raise SpecError(f"families={value}: '{name}' is only generated with {form}", f"also write {form}")
        if (source := FAMILY_ROWS[name].source) and source not in added:
            raise SpecError(f"families={value}: there are no {source}", f"also write {source}=PATH")
        hooks = specs.described.hooks if specs.described is not None else None
        if name == HOOK_FILES and (hooks is None or "files" not in hooks.lines):
            problem = f"families={value}: no description has hooks with `files`"
            raise SpecError(problem, 'write hooks = "hooks.py" in a specset.toml')
        templates = distinctive(FAMILY_ROWS[name])  # the stage `shard` reports others that are missing
        own = specs.described.templates.get(name) if specs.described is not None else None
        if templates and not own and not any(specs.templates[each].exists() for each in templates):
            made = f"'{name}' is made from the template {templates[0]}"
            raise SpecError(
                f"families={value}: {made}, which the spec set does not have",
                "also write specs=torch" if specs.owner == "core" else f"leave {name} out, or add the template",
            )
        file = FAMILY_ROWS[name].needs_file
        if file and file not in specs.files:
            raise SpecError(
                f"families={value}: '{name}' is made from {FILE_NAMES[file]}, which the spec set does not have",
                "also write backend_yaml=FILE" if file == EXTERNAL else f"leave {name} out, or name a checkout",
            )
    return tuple(name for name, row in FAMILY_ROWS.items() if name in asked or row.source in added)


def _members(word: str, facts: Release, specs: SpecSet, possible: Sequence[str]) -> list[str]:
    """The families that a word of `families=` names, of a subset those that the release has and the set has files
    for, among `possible`."""
    if word not in SUBSETS:
        return [word]
    known = (name for name in possible if not (file := FAMILY_ROWS[name].needs_file) or file in specs.files)
    return [name for name in known if word in FAMILY_ROWS[name].subsets and FAMILIES[name].is_in(facts)]


def _backends(value: str, release: str) -> tuple[str, ...]:
    """The optional backends of a build of ATen, in the order of the release. SpecError for one that it lacks."""
    if not value:
        return ()
    asked, known = value.split(","), resolve(release).optional_backends
    for name in asked:
        if name not in known:
            hint = nearest(name, known) or f"it has {', '.join(known)}"
            raise SpecError(f"backends={name}: PyTorch {release} has no such optional backend", hint)
    return tuple(name for name in known if name in asked)


def _aten(values: Mapping[str, Any], specs: SpecSet, release: str) -> AtenRequest:
    """The options of a build of ATen. SpecError for a backend or a dispatch key that the release lacks."""
    names = values["operator_names"]
    if names and values["operators"]:
        raise SpecError(f"operator_names={names}: there are two lists of operators", "leave out operators=")
    return AtenRequest(
        _backends(values["backends"], release),
        values["extend_shims"],
        _dispatch_keys("static_dispatch", values, specs, release),
        _dispatch_keys("dispatch_keys", values, specs, release),
        values["registrations"],
        tuple(filter(None, names.split(","))) if names else None,
    )


def _dispatch_keys(name: str, values: Mapping[str, Any], specs: SpecSet, release: str) -> tuple[str, ...]:
    """The dispatch keys in a variable. SpecError for one that does not exist; a description may add some."""
    if not (value := values[name]):
        return ()
    keys, known = value.split(","), resolve(release).dispatch_keys
    for key in keys if specs.described is None else ():
        if key not in known:
            hint = nearest(key, sorted(known)) or "write keys such as CPU, CUDA, QuantizedCPU"
            raise SpecError(f"{name}={value}: PyTorch {release} has no dispatch key '{key}'", hint)
    return tuple(keys)


def _requested_files(specs: SpecSet, values: Mapping[str, Any], generated: str) -> RequestedFiles:
    requested = values["families"]
    words = [*FAMILY_ROWS] if requested == ALL else requested.split(",") if requested else _of_description(specs)
    headeronly, shims = (_from(generated, values[name]) for name in ("headeronly", "shims"))
    files = requested_files(words, values["tree"], shims)
    return replace(files, moved={TAGS: f"{headeronly}/{os.path.basename(TAGS)}"}) if headeronly else files


def _from(generated: str, folder: str) -> str:
    """The path of a folder from that of the generated files, "" for none."""
    return os.path.relpath(os.path.realpath(folder), os.path.realpath(generated)) if folder else ""


def _with_shim_headers(specs: SpecSet, values: Mapping[str, Any], release: str) -> SpecSet:
    """The set with the existing headers of AOTInductor's C functions, if sources are generated for them."""
    requested = values["families"].split(",")
    if not values["shims"] or SHIM_HEADERS in requested or SOURCES not in requested:
        return specs
    paths = [os.path.join(values["shims"], f"c_shim_{device}.h") for device in resolve(release).shim_devices]
    found = {f"{SHIM_HEADER}:{os.path.basename(path)}": Location(path) for path in paths if os.path.exists(path)}
    return replace(specs, files={**specs.files, **found}, looked_for=(*specs.looked_for, *paths))


def _with_files(specs: SpecSet, families: tuple[str, ...]) -> SpecSet:
    """The set without the files that no requested family reads."""
    wanted = families or _of_description(specs)
    read = {role for name in wanted if name in FAMILY_ROWS for role in FAMILY_ROWS[name].reads}
    files = {key: at for key, at in specs.files.items() if (role := role_of(key)) not in OPTIONAL or role in read}
    if specs.described is not None:
        sources = tuple(source for source in specs.described.sources if source.key in files)
        specs = replace(specs, described=replace(specs.described, sources=sources))
    return replace(specs, files=files)


def _with_generator(specs: SpecSet, release: str) -> SpecSet:
    """A checkout with the files of its own generator, which the stage `specs` compares with the release's."""
    if not specs.in_development:
        return specs
    from gradmill.releases.names import generator_of

    return with_generator(specs, generator_of(release))


def _check_text(value: str) -> None:
    try:
        value.encode()
    except UnicodeEncodeError:
        raise SpecError(f"{value!r}: the name is not UTF-8", "rename the file or the folder") from None
