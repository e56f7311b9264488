"""What the command line says of graphs: their files, and how these are read."""

import msgspec

from gradmill.extensions.graphs.family import GRAPHS
from gradmill.extensions.graphs.settings import GraphRequest
from gradmill.query.database import Database
from gradmill.query.query import query


@query
def asked(db: Database) -> GraphRequest:
    """The graph files and the namespace of their operators; none without `graphs=`."""
    data = db.input(GRAPHS.name)
    return msgspec.msgpack.decode(data, type=GraphRequest) if data else GraphRequest([], "")


@query
def namespace(db: Database) -> str:
    """The namespace of the operators that graphs become."""
    return asked(db).namespace


@query
def double_backward(db: Database) -> bool:
    """Whether the gradients of graphs can be differentiated again."""
    return asked(db).double_backward


@query
def memory(db: Database) -> float:
    """The fraction of what the backward of graphs uses that may be held for it."""
    return asked(db).memory


@query
def decomposed(db: Database) -> bool:
    """Whether graphs may be exported models that were decomposed, which lost where gradients end."""
    return asked(db).decomposed


@query
def device(db: Database) -> str:
    """The device on which exported models create tensors; "" for that of the export."""
    return asked(db).device
