"""The query engine: memoized functions with recorded dependencies. It knows no operator, file format or disk.

A **query** is a pure function of a database and a key. It reads everything through the database::

    @query
    def length(db: Database, word: str) -> int:
        return len(meaning(db, word))        # another query; db.input("words.txt") would be an input

    length(db, "salsa")                      # called like a function; runs once, then is remembered

The database records each dependency: which call, and the digest of what it returned. What it keeps of one call is a
**memo**: the dependencies in order, the digest of the value, the diagnostics that the query reported, the value. A memo
is valid while all its dependencies have the digests recorded in it. If it is not, the query runs again; if the value is
equal, its readers stay valid (**early cutoff**). A row keeps a few past memos, so going back to an earlier edit, branch
or release runs nothing.

A **table** is a query that returns a dict. Its items are read, and compared, one by one::

    @table
    def entries(db: Database, file: str) -> dict[str, str]: ...

    entries.item(db, "words.txt", "salsa")   # None if absent, which is a dependency too
    db.names(entries, "words.txt")           # the names alone, in order

**Inputs** (bytes by label) are fixed for one **revision**: `begin(inputs)`, calls, `commit()`. The memos of
a store are all of the same code: the program opens another store when its code changed.

**Invalidation**: `begin` follows from each changed input who reads it, and marks rows dirty. No memo is loaded for
that. A dirty row is verified when it is next requested, possibly many revisions later.

**Damage**: a store that does not return what was written to it raises `StoreDamaged`, at any time. The request starts
over on an empty store. There is no partial trust: at the end, `Database.check` says whether all must be requested
again.

**Failures**: any other error that a query raises is a bug, unless the query raises it on purpose. If the store has
results, the request is repeated on an empty one. If it fails there, too, that error is raised, and the store stays. If
it succeeds, an `IncrementalBug` is raised from the error, and the store is set aside: the next run begins an empty one.
What only looks for dirty rows raises nothing: who requests a row gets its error.

Read `query` (what a query and a table are), `memo` (what is remembered), `table` (items in chunks), `engine` (reading,
verifying, running), `invalidation`, `database` (revisions, diagnostics), `store` (what the engine needs of a disk;
`gradmill.store` implements it), `explain` (what changed, and why).

Invariants: no clean row depends on a dirty one. A dirty row's readers are dirty, up to tables; no table is dirty after
`begin`. Nothing is remembered under what it was not computed from.
"""
