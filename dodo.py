"""gradmill's tasks: the stages, one task a unit, one task a generated file. See README.md."""

from doit import get_var

from pipeline.front.loader import open_build, variables_of
from pipeline.front.main import prepare
from pipeline.front.tasks import namespace

prepare()
globals().update(namespace(open_build(variables_of(get_var))))
