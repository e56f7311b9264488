"""What the command line says of graphs: their files, and how these are read."""

import msgspec
from msgspec.structs import replace

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
def wanted(db: Database) -> GraphRequest:
    """How graphs are read and generated, whatever their files are."""
    return replace(asked(db), files=[])
