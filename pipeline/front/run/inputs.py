"""What a run reads: gradmill's own code, the spec set, the release; as all of it was when the run began."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from pipeline.families.table import TEMPLATES
from pipeline.front.output.outputs import Written
from pipeline.front.run.own_code import OwnCode
from pipeline.front.settings.config import Config
from pipeline.io.files import Moment, Stat, evidence, moment, stat_of, unchanged

if TYPE_CHECKING:
    from pipeline.front.settings.graph_files import Archive
    from pipeline.query.memo import Input
    from pipeline.specs.location import Location


class Inputs:
    """The inputs of one configuration. `stats` are those of the files of the set when they were taken, at `moment`."""

    def __init__(self, config: Config) -> None:
        self._config = config
        self.code = OwnCode()
        self.moment = Moment(0)
        self.clock = ""  # a file that may be touched, to know what time it is there
        self.stats: dict[str, Stat | None] = {}
        self.opened: dict[str, bytes] = {}  # what an editor has of files, by label: it counts in place of the disk's
        self._code: dict[str, Input] = {}
        self._paths: list[str] = []  # of the spec set's files, and of the graphs', when they were taken

    def take(self, known: Mapping[str, Written]) -> Mapping[str, Input]:
        """All inputs as they are now; CodeChanged where what runs may be another text than what is there. `known`:
        gradmill's files as the last run saw them."""
        self.moment = self.now()
        self._code, specs = self.code.take(known), self._take_specs()
        self.code.settle()
        return self._code | specs

    def take_again(self) -> Mapping[str, Input]:
        """The same with the code as it was taken, which the caller checks before anything is kept."""
        self.moment = self.now()
        return self._code | self._take_specs()

    def now(self) -> Moment:
        """Now, by the clock of the cache too where this run writes there."""
        return moment(self.clock)

    def specs_are_the_same(self) -> bool:
        """Whether the files of the spec set are as they were when the inputs were taken."""
        paths = self.spec_paths()
        return paths == self._paths and unchanged((path, evidence(self.stats.get(path), self.moment)) for path in paths)

    def evidence(self) -> dict[str, Stat | None]:
        """By what a later run knows that all files but gradmill's are unchanged, and that none of those was added."""
        stats = self.stats | self.code.beside()
        return {path: evidence(stat, self.moment) for path, stat in stats.items()}

    def _take_specs(self) -> dict[str, Input]:
        from pipeline.query.memo import Input, encode
        from pipeline.stages.set import UNREADABLE

        self._paths = self.spec_paths()
        self.stats = {path: stat_of(path) for path in self._paths}
        templates, graphs = self._templates(), self._config.graphs.files()
        found: dict[str, Input] = {}
        unreadable = {}
        for label, at in self._labels(templates, graphs).items():
            try:
                found[label] = Input(self.opened[label] if label in self.opened else at.read())
            except (OSError, KeyError) as error:
                unreadable[label] = str(getattr(error, "strerror", None) or error)
                found[label] = Input(None)
        found[UNREADABLE] = Input(encode(unreadable))
        return found | self._take_settings(tuple(templates), list(graphs))

    def _labels(
        self, templates: Mapping[str, Location], graphs: Mapping[str, Location | Archive]
    ) -> dict[str, Location | Archive]:
        """The files by what they are called among the inputs."""
        from pipeline.stages.set import graph_label, header_label, spec_label, template_label

        specs = self._config.specs
        labels: dict[str, Location | Archive] = {spec_label(key): at for key, at in specs.files.items()}
        labels |= {template_label(name): at for name, at in templates.items()}
        labels |= {header_label(name): at for name, at in specs.headers.items()}
        return labels | {graph_label(name): at for name, at in graphs.items()}

    def _take_settings(self, templates: tuple[str, ...], graphs: list[str]) -> dict[str, Input]:
        """What the command line and the description of the set say."""
        from pipeline.query.memo import Input, encode
        from pipeline.stages.set import DESCRIBED, FAMILIES, GRAPHS, LINES, RELEASE, SET, Set

        config, specs = self._config, self._config.specs
        comment, headers = specs.template_comment, tuple(specs.headers)
        found: dict[str, Input] = {
            SET: Input(encode(Set(specs.name, specs.names(), templates, comment, headers, specs.whole))),
            RELEASE: Input(config.release.encode()),
            FAMILIES: Input(",".join(config.families).encode()),
        }
        if specs.described is not None:
            found[DESCRIBED] = Input(encode(specs.described))
        if config.graphs.given:
            found[GRAPHS] = Input(encode({"files": graphs, "namespace": config.namespace}))
        if config.called is not None:
            found[LINES] = Input(encode(config.called))
        return found

    def spec_paths(self) -> list[str]:
        """The files of the spec set, and of the graphs."""
        specs = self._config.specs
        found = [at.path for at in (*specs.files.values(), *self._possible().values(), *specs.headers.values())]
        found += self._config.graphs.paths()
        return list(dict.fromkeys([*found, *([specs.version_file] if specs.version_file else [])]))

    def read_paths(self) -> list[str]:
        """All files that were read."""
        stats = self.stats | self.code.stats
        return [path for path in (*self.spec_paths(), *self.code.paths()) if stats.get(path)]

    def _possible(self) -> dict[str, Location]:
        """The templates that a run may read."""
        left_out = () if self._config.graphs.given else TEMPLATES.for_graphs
        return {name: at for name, at in self._config.specs.templates.items() if name not in left_out}

    def _templates(self) -> dict[str, Location]:
        """Those that a run reads: of those that a set may lack, the existing ones."""
        may_lack = (*TEMPLATES.optional, *TEMPLATES.for_graphs)
        return {name: at for name, at in self._possible().items() if name not in may_lack or at.exists()}
