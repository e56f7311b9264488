"""The database in which doit keeps what it ran: one for each configuration."""

from __future__ import annotations

import os
from contextlib import closing, suppress

from gradmill.io.decoding import decode_json


def usable_database(path: str) -> str:
    """The path of the database, which may be missing; a damaged one is deleted, with which doit would end."""
    with suppress(OSError):  # a cache that cannot be written: doit reports it
        os.makedirs(os.path.dirname(path), exist_ok=True)
        if os.path.lexists(path) and not _is_whole(path):
            (os.rmdir if os.path.isdir(path) else os.unlink)(path)
    return path


def _is_whole(path: str) -> bool:
    import sqlite3

    try:
        with closing(sqlite3.connect(path)) as connection:
            connection.execute("PRAGMA quick_check")
            for (data,) in connection.execute("SELECT task_data FROM doit"):
                decode_json(data, dict[str, object])
    except (sqlite3.Error, ValueError, TypeError):
        return False
    return True
