"""The classes of named results that Python has. Part of the stage `schemas`."""

from pipeline.model.structseqs import Structseq
from pipeline.query.database import Database
from pipeline.query.query import table
from pipeline.rules.native.structseqs import structseqs as structseqs_of
from pipeline.stages.schemas import bucket_of_function, heads
from pipeline.stages.set import release


@table
def structseqs(db: Database, bucket: str) -> dict[str, Structseq | None]:
    """The classes of named results of a bucket, by function; None for a repeated class."""
    return structseqs_of(heads(db, bucket), release(db))


def structseq(db: Database, function: str) -> Structseq | None:
    """The class of a function's named results; None if it has none, or repeats that of another overload."""
    return structseqs.item(db, bucket_of_function(function), function)
