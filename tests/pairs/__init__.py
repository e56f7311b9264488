"""Every pair of settings, each held against what must hold in any setting.

    python -m tests.campaigns pairs                all pairs of all values
    python -m tests.campaigns pairs --quick        of the usual values
    python -m tests.campaigns pairs --seed N       in other company: the values in another order
    python -m tests.campaigns pairs --only TEXT    the cases whose name has the text

`settings.py` is the table: a setting is a row in it. `sets.py` makes the spec sets, `work.py` runs a case in its own
folder, `hold.py` says what must hold.
"""
