"""What an entry of tags.yaml may be.

torchgen: `gen.parse_tags_yaml`.
"""

from __future__ import annotations

from gradmill.problems.problem import SpecError


def odd_name(name: object) -> SpecError | None:
    """The warning for a tag that upstream accepts, although it is not an identifier in C++ and Python; else None."""
    if isinstance(name, str) and name.isidentifier():
        return None
    if name is None:
        problem = "the tag has no name: torchgen reads 'None'"
        return SpecError(problem, "write tag: name", field=("tag",), at_key=True, rule="tag-name")
    problem = f"'{name}' is not a valid C++ identifier"
    return SpecError(problem, "write letters, digits and underscores", field=("tag",), rule="tag-name")


def tag_name(declared: object) -> str:
    """The name of a tag. Raises SpecError for an entry that is no tag, or has no description."""
    if not isinstance(declared, dict):
        raise SpecError("not a mapping", "write - tag: name")
    if "tag" not in declared:
        from gradmill.rules.derivatives.definition import no_such_key  # only needed for an error

        raise no_such_key(declared, "tag", "the entry declares no tag", "write tag: name")
    if not isinstance(declared["tag"], (str, int, float)) and declared["tag"] is not None:
        raise SpecError(f"the tag is not a name: {declared['tag']!r}", field=("tag",))
    if declared.get("desc", "") == "":
        raise SpecError(f"tag '{declared['tag']}' has no description", "add desc: …", field=("tag",))
    return str(declared["tag"])
