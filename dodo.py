"""gradmill's tasks: the stages, one task a unit, one task a generated file. See README.md."""

from doit import get_var

from pipeline.front.doit.loader import open_build, variables_of
from pipeline.front.doit.namespace import namespace
from pipeline.front.start.main import prepare

prepare()
globals().update(namespace(open_build(variables_of(get_var))))
