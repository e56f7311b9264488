"""`doit dumpdb`: the tasks marked by `doit forget` and `doit ignore`, as JSON."""

from __future__ import annotations

import sys
from typing import Any

from pipeline.front.commands.command import BuildCommand
from pipeline.front.commands.report import json_text
from pipeline.front.run.notes import read_notes


class DumpDB(BuildCommand):
    """Replaces doit's command, which reads a database format that gradmill does not use."""

    name = "dumpdb"
    doc_purpose = "print the tasks that doit is to forget or to ignore"
    doc_usage = "[specs=SET …]"
    doc_description = "Prints one JSON object, keyed by task. `show` prints the results of the stages."

    def work(self, options: dict[str, Any], arguments: list[str]) -> int:
        self.expect_none(arguments, "gradmill dumpdb [specs=SET]")
        sys.stdout.write(json_text(read_notes(self.build.paths.notes)).decode())
        return 0
