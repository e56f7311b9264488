"""gradmill's tasks: the stages, one task a unit, one task a generated file. See README.md."""

from pipeline.front.doit.loader import namespace, open_build, with_settings
from pipeline.front.settings.command_line import all_variables
from pipeline.front.start.main import prepare

prepare()
globals().update(namespace(open_build(with_settings(all_variables(), quiet=False))))
