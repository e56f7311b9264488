"""The stages in order, and the query at the root of each."""

from __future__ import annotations

from collections.abc import Iterable
from importlib import import_module
from typing import TYPE_CHECKING, Any

from gradmill.doors import extensions, readers
from gradmill.model.layers import role_of
from gradmill.session.settings.config import Config
from gradmill.specs.location import BACKEND, EXTERNAL, SHIM_HEADER

if TYPE_CHECKING:
    from gradmill.query.query import Query

Root = tuple[Any, ...]  # a query and its key

# What each stage does, then which ones it needs. Each has a query `stage` that stands for all of it.
ANALYSIS: dict[str, tuple[str, ...]] = {
    "specs": ("read the YAML files into raw entries",),
    "schemas": ("parse operator schemas, generate missing variants", "specs"),
    "derivatives": ("read the raw derivative definitions", "specs"),
    "infos": ("work out differentiability infos and name the Nodes", "derivatives", "schemas"),
    "foreach": ("synthesize infos of foreach functions", "schemas", "infos"),
    "match": ("match every native function with its infos", "schemas", "infos", "foreach"),
}


def _in(package: str, names: str) -> tuple[str, ...]:
    """The names of modules in a package."""
    return tuple(f"gradmill.{package}.{name}" for name in names.split())


# The modules with queries that most runs call, then those for described sets and for backends. Others are loaded when
# one of their queries is called: `OwnCode.check` compares what is loaded late.
_MODULES = (
    *_in("stages", " ".join(ANALYSIS)),
    *_in("stages", "set added tags silences generator spec_files"),
    *_in("stages", "selection kernels units emit arrangement operator_files shard manifest"),
    *_in("stages.kinds", "nodes functions kernels"),
    *_in("stages.layered", "participation"),
)
_LAYERED = _in("stages.layered", "files keys marks overridden_units own_kernels hooks hook_checks checks")
_FOR_BACKENDS = _in("stages", "backend")
_SHIM_CHANGES = "gradmill.reports.shim_changes"


class Stages:
    """The stages of one configuration."""

    def __init__(self, config: Config) -> None:
        self._added = {name: readers()[name] for name in config.added}
        # The stages before any unit is printed.
        self.analysis = ANALYSIS | {name: reads.stage for name, reads in self._added.items()}
        self._arrangement = config.arrangement
        layered = _LAYERED if config.specs.described is not None else ()
        self._has_hooks = config.specs.described is not None and config.specs.described.hooks is not None
        backends = _FOR_BACKENDS if {BACKEND, EXTERNAL}.intersection(config.specs.files) else ()
        self._compares_shims = any(role_of(key) == SHIM_HEADER for key in config.specs.files)
        shims = (_SHIM_CHANGES,) if self._compares_shims else ()
        own = (module for name in self._added for module in extensions()[name].queries)
        self._modules = (*_MODULES, *layered, *own, *backends, *shims)

    def load(self) -> None:
        """Imports the modules with queries that most runs need, so that the snapshot of the code covers them."""
        for name in self._modules:
            import_module(name)

    def root(self, stage: str) -> Root:
        """The query that depends on all of a stage, with its key."""
        module = self._added[stage].module if stage in self._added else f"gradmill.stages.{stage}"
        query = import_module(module).stage
        return (query, *(self._arrangement if stage == "shard" else ()))

    def closure(self, stages: Iterable[str]) -> list[str]:
        """Some stages and those that they need, in order."""
        needed = set(stages)
        for stage, (_, *before) in reversed(self.analysis.items()):
            needed |= set(before) if stage in needed else set()
        return [stage for stage in self.analysis if stage in needed]

    def roots(self) -> list[Root]:
        """The roots of all stages that report problems. Files and the manifest report none."""
        roots = [self.root(stage) for stage in (*self.analysis, "shard")]
        return [*roots, (import_module(_SHIM_CHANGES).compared,)] if self._compares_shims else roots

    def of_hooks(self) -> list[Root]:
        """The root that calls all hooks twice, if a description has some."""
        return [(import_module("gradmill.stages.layered.hook_checks").pure,)] if self._has_hooks else []

    def before_units(self) -> list[Root]:
        """The roots of the stages that must have no errors before any unit is printed."""
        return [self.root(stage) for stage in ("match", *self._added)]


def find_query(name: str) -> Query[Any, Any] | None:
    """The query with a name, None if this version has no such query."""
    from gradmill.query.query import Query

    module, _, function = name.partition(":")
    try:
        query = getattr(import_module(module), function, None) if module.startswith("gradmill.") else None
    except ModuleNotFoundError:
        return None
    return query if isinstance(query, Query) else None
