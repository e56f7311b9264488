"""Remembered functions with recorded reads: the one mechanism that keeps everything fresh.

A **query** is a pure function of a database and a key. Whatever it reads, it reads through the database::

    @query
    def length(db: Database, word: str) -> int:
        return len(meaning(db, word))        # another query
                                             # db.input("words.txt") would be an input
    length(db, "salsa")                      # called like a function; run once, then remembered

The database records each read: which row, and the digest of what it gave. What it keeps of one call is a **row**: the
reads in order, the digest of the value, the problems that the query reported, the value (MessagePack). A row *holds*
while all that it read gives the digests that it gave. A row that does not hold runs again; if its value is equal, the
rows that read it hold all the same (**early cutoff**). A row keeps some of what it came to before: each such record is
a **trace**. When all reads of an older trace give what they gave then, the row takes that trace and nothing runs. So
going back to an earlier edit, branch or release makes nothing anew.

A **table** is a query that returns a dict. Its items are read, and compared, one by one, so that a large file can be
cut into entries of which only the edited one is news, and kept in chunks, so that an item costs no look at the others::

    @table
    def entries(db: Database, file: str) -> dict[str, str]: ...

    entries.item(db, "words.txt", "salsa")   # None where there is none; noticed when there is one
    db.names(entries, "words.txt")           # the names alone, in order

**Inputs** (bytes by label) are taken once, by `Database.begin`, and stay what they are until the next round. The code
of a query is one of its inputs: the first read of every row is `code(module)`, which follows the import statements
(`pipeline.code`). Nothing is ever remembered under what it was not made from.

**A round**: `begin(inputs)`, calls, `commit()`. `begin` finds out what may be stale: it follows, from each input that
changed, who reads whom. Rows that this does not reach are not looked at, decoded or written.
What a round leaves in doubt, since nobody asked, stays in doubt for the next one. Problems are part of their row:
`account.problems(db, roots)` gives those of all rows that the roots are made from, whether anything ran or not.

**The store** (`pipeline.query.store`) is two files. One is an SQLite database: rows by number, who reads which row, and
where values are. The other has the values, one after another, equal ones once, and only grows. The first is changed by
one transaction at the end, so that a kill leaves the state before; a process that finds that another wrote in the
meantime keeps nothing, which costs time and nothing else.

**Damage** has one policy. While the system says of both files what it said when they were left, they are trusted as a
whole. Otherwise (copied, restored, altered) all checksums, their sum and all values are verified once: what is whole is
trusted from then on, wherever it is. Anything else, whenever it is met, is `StoreDamaged`: `Engine._start_over`
discards the store, says so in one line, and the round starts again on an empty one. Nothing damaged is ever extended.

Two walks over the reads exist, and they are one: `Engine._holds` decides, `account.changes` reports what it saw.

The modules: `query` (what a query is), `row` (what is kept, as which bytes), `rows` (all rows in memory), `engine`
(reading, running, deciding), `readers` (who reads whom), `database` (rounds, what may be stale), `account` (problems,
why a row ran, garbage), `store`, `values`. This package imports nothing of this program but `pipeline.io`.
"""
