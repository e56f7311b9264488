"""`doit dumpdb`: what doit was told to forget or to ignore, as JSON."""

from __future__ import annotations

import sys
from typing import Any

import msgspec

from pipeline.front.commands.command import BuildCommand
from pipeline.front.run.build import Build
from pipeline.front.run.notes import read_notes


class DumpDB(BuildCommand):
    """doit's command of this name reads a database of its own kind, which gradmill does not have."""

    name = "dumpdb"
    doc_purpose = "print what doit was told to forget or to ignore"
    doc_usage = "[specs=SET …]"
    doc_description = "One JSON object, by task. What the stages made, `show` prints."

    def work(self, build: Build, options: dict[str, Any], arguments: list[str]) -> int:
        self.expect_none(arguments, "doit dumpdb [specs=SET]")
        notes = msgspec.json.encode(read_notes(build.paths.notes))
        sys.stdout.write(msgspec.json.format(notes, indent=2).decode() + "\n")
        return 0
