"""The releases. Their facts are in `facts/`, changed C++ text is in the families' text files.

`python -m tests.add_release VERSION` adds a release and reports the facts that still need a row.
"""

# Every minor release with output known to equal upstream's, each as its newest checked patch release.
KNOWN = (
    "2.4.1",
    "2.5.1",
    "2.6.0",
    "2.7.1",
    "2.8.0",
    "2.9.1",
    "2.10.0",
    "2.11.0",
    "2.12.1",
    "2.13.0",
    "2.14.1",
    "2.15.0",
)
NAMES_OF = "2.15.0"  # the newest release with a package that `pipeline/gradmill/releases/names` was read from
