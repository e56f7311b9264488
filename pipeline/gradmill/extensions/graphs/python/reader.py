"""The reader of all expressions of a graph: names and operators, calls, subscripts."""

import ast

from gradmill.extensions.graphs.python import calls, subscripts
from gradmill.extensions.graphs.python.expressions import Expressions


class Reader(Expressions):
    """Reads every kind of expression that a graph supports."""

    readers = {**Expressions.readers, ast.Subscript: subscripts.read, ast.Call: calls.read}
