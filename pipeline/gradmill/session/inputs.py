"""The inputs of a run: the spec set, the release, gradmill's own code. All are read once, when the run starts."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from gradmill.families.rows import TEMPLATES
from gradmill.io.files import Moment, Stat, evidence, moment, stat_of
from gradmill.io.stats import unchanged
from gradmill.model.aten import USUAL
from gradmill.model.requested_files import EVERYWHERE
from gradmill.session.own_code import OwnCode
from gradmill.session.settings.config import Config

if TYPE_CHECKING:
    from gradmill.doors import Readable
    from gradmill.query.memo import Input
    from gradmill.specs.location import Location


class Inputs:
    """The inputs of one configuration. `code`: a snapshot of gradmill's own code, which several builds may share.
    `stats`: of the set's files, by path, in the snapshot, taken at `moment`."""

    def __init__(self, config: Config, code: OwnCode | None = None) -> None:
        self._config = config
        self.code = code or OwnCode()
        self.moment = Moment(0)
        self.clock = ""  # a file that may be touched to read the clock of its file system
        self.stats: dict[str, Stat | None] = {}
        self.opened: dict[str, bytes] = {}  # unsaved texts of an editor, by label; they replace the files on disk
        self._paths: list[str] = []  # of the spec set's files and those that extensions read, in the snapshot

    def take(self, *noted: Any) -> Mapping[str, Input]:
        """Takes a snapshot of all inputs, by label; the first time of gradmill's own code, too. `noted`: for
        `OwnCode.take`."""
        self.moment = self.now()  # before the first stat
        if not self.code.digest:
            self.code.take(*noted)
        return self._take_specs()

    def now(self) -> Moment:
        """The current time, also by the clock of the cache's file system if this run writes there."""
        return moment(self.clock)

    def specs_are_the_same(self) -> bool:
        """Whether the files of the spec set are unchanged since the snapshot."""
        paths = self.spec_paths()
        return paths == self._paths and unchanged((path, evidence(self.stats.get(path), self.moment)) for path in paths)

    def evidence(self) -> dict[str, Stat | None]:
        """Stats, by path, that prove to a later run that the inputs and gradmill's own code are unchanged."""
        stats = self.stats | self.code.evidence()
        return {path: evidence(stat, self.moment) for path, stat in stats.items()}

    def _take_specs(self) -> dict[str, Input]:
        from gradmill.query.memo import Input, encode
        from gradmill.stages.set import UNREADABLE

        self._paths = self.spec_paths()
        self.stats = {path: stat_of(path) for path in self._paths}
        templates = self._templates()
        added = {name: each.files() for name, each in self._config.added.items()}
        inputs: dict[str, Input] = {}
        unreadable = {}
        for label, at in self._labels(templates, added).items():
            try:
                inputs[label] = Input(self.opened[label] if label in self.opened else at.read())
            except (OSError, KeyError) as error:
                unreadable[label] = str(getattr(error, "strerror", None) or error)
                inputs[label] = Input(None)
        inputs[UNREADABLE] = Input(encode(unreadable))
        return inputs | self._take_settings(tuple(templates), added)

    def _labels(
        self, templates: Mapping[str, Location], added: Mapping[str, Mapping[str, Readable]]
    ) -> dict[str, Readable]:
        from gradmill.stages.added import added_label
        from gradmill.stages.set import generator_label, header_label, spec_label, template_label

        specs = self._config.specs
        labels: dict[str, Readable] = {spec_label(key): at for key, at in specs.files.items()}
        labels |= {template_label(name): at for name, at in templates.items()}
        labels |= {header_label(name): at for name, at in specs.headers.items()}
        labels |= {generator_label(path): at for path, at in specs.generator.items()}
        return labels | {added_label(own, name): at for own, files in added.items() for name, at in files.items()}

    def _take_settings(self, templates: tuple[str, ...], added: Mapping[str, Iterable[str]]) -> dict[str, Input]:
        """The inputs that come from the command line and the description of the set."""
        from gradmill.query.memo import Input, encode
        from gradmill.stages import set as labels

        config, specs = self._config, self._config.specs
        comment, headers = specs.template_comment, tuple(specs.headers)
        inputs: dict[str, Input] = {
            labels.SET: Input(encode(labels.Set(specs.name, specs.names(), templates, comment, headers, specs.whole))),
            labels.RELEASE: Input(config.release.encode()),
            labels.FAMILIES: Input(",".join(config.families).encode()),
            labels.CODE: Input(self.code.digest),
        }
        if config.aten != USUAL:
            inputs[labels.ATEN] = Input(encode(config.aten))
        if config.requested != EVERYWHERE:
            inputs[labels.REQUESTED_FILES] = Input(encode(config.requested))
        requests = {name: config.added[name].request(list(files)) for name, files in added.items()}
        rest = {labels.DESCRIBED: specs.described, labels.INCLUDES: config.includes, labels.LINES: config.line_paths}
        return inputs | {name: Input(encode(each)) for name, each in {**rest, **requests}.items() if each is not None}

    def spec_paths(self) -> list[str]:
        """The paths of the spec set's files and of those that extensions read, each once; of optional
        ones, missing files too."""
        specs = self._config.specs
        located = (specs.files, self._possible(), specs.headers, specs.generator)
        paths = [at.path for each in located for at in each.values()]
        paths += [at.path for each in self._config.added.values() for at in each.files().values()]
        return list(dict.fromkeys([*paths, *([specs.version_file] if specs.version_file else [])]))

    def read_paths(self) -> list[str]:
        """The paths of all files that were read."""
        stats = self.stats | self.code.stats
        return [path for path in (*self.spec_paths(), *self.code.paths()) if stats.get(path)]

    def _possible(self) -> dict[str, Location]:
        """The templates that a run may read, by name."""
        left_out = () if self._config.added else TEMPLATES.added
        return {name: at for name, at in self._config.specs.templates.items() if name not in left_out}

    def _templates(self) -> dict[str, Location]:
        """The templates that a run reads, by name: PyTorch's only if they exist."""
        may_lack = (*TEMPLATES.main, *TEMPLATES.added)
        return {name: at for name, at in self._possible().items() if name not in may_lack or at.exists()}
