"""`torchgen --dry-run`: writes the lists of generated files, and no generated file."""

from __future__ import annotations

from contextlib import closing

from gradmill.cli.commands.request import fail_for
from gradmill.cli.console import print_report
from gradmill.session.claims import check_cache
from gradmill.session.cmake import output_lists
from gradmill.session.places import check_build_files
from gradmill.session.session import Session
from gradmill.session.settings.config import Config


def dry_run(config: Config) -> int:
    """Does the work of a run but for the files. What it computed stays in the cache."""
    check_cache(config)
    with closing(Session.open(config, writes=True)) as session:
        fail_for(session, problems := session.problems())
        check_build_files(session)
        outputs, lists = session.outputs, output_lists(session)
        outputs.put({path: data for path, data in lists.items() if not outputs.has_digest(path, data.digest)})
        session.save_if_first()
        print_report(problems.report, config.format)
    return 0
