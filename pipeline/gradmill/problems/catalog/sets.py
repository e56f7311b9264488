"""The rules of descriptions of spec sets, whose settings match nothing in this release, and those of silences."""

from __future__ import annotations

from gradmill.problems.catalog.rule import Rule

_FILE = "specset.toml"

SETS = (
    Rule(
        "changed-generator",
        "Files of a checkout's own generator, torchgen and tools/autograd, differ from those of the release that the"
        " checkout is read as. gradmill runs none of them: what PyTorch's script writes may have changed.",
        "        num_shards=3,",
        "        num_shards=2,",
        "tools/autograd/gen_inplace_or_view_type.py",
        "0.2.0",
    ),
    Rule(
        "unmatched-functions",
        "A selection names a function, a tag or a key that is missing. Another release, or the next version of the"
        " set's files, may have it.",
        'slots.definitions = { piece = "definition", of = ["swissh", "plugin::add.Tensor"] }',
        'slots.definitions = { piece = "definition", of = ["swish", "plugin::add.Tensor"] }',
        _FILE,
    ),
    Rule(
        "unmatched-entry",
        "No function has this name: there is nothing to rewrite, or to list in marks.",
        'rewrite = [{ func = "mn"',
        'rewrite = [{ func = "mm"',
        _FILE,
        "0.2.0",
    ),
    Rule(
        "unmatched-text",
        "The text that a replacement or a rewrite looks for is missing.",
        '{ from = "at::redispach", to',
        '{ from = "at::redispatch", to',
        _FILE,
    ),
    Rule(
        "unmatched-hole",
        "No template of the family has this hole.",
        '[family.nodes]\nslots.autograd_function_declaration = "declaration"\n',
        "[family.nodes]\n",
        _FILE,
    ),
    Rule(
        "unmatched-key",
        "No entry of the file has a key that `drop`, `keep` or `versions` names.",
        'drop = ["exposed", "exposes"]',
        'drop = "exposed"',
        _FILE,
    ),
    Rule(
        "unmatched-list",
        "The file has no list of this name.",
        'list = ["custom", "custom_autograd", "ours"]',
        'list = ["custom", "custom_autograd"]',
        _FILE,
    ),
    Rule(
        "unmatched-fact",
        "A fact is about a function, a key or a tag that this release does not have.",
        'add.complex_differentiable = ["swihs"]',
        'add.complex_differentiable = ["swish"]',
        _FILE,
    ),
    Rule(
        "unlisted-release",
        "A file lists the releases that its entries are for, but not the release that the set is read as.",
        "all_version: [v2.12, v2.14]",
        "all_version: [v2.12, v2.13, v2.14]",
        "functions.yaml",
    ),
)

_EXP = "- name: exp(Tensor self) -> Tensor\n"

SILENCES = (
    Rule(
        "malformed-silence",
        "A silence has no effect: it names no rule, gives no reason, or is on no entry.",
        f"{_EXP}  # gradmill: ignore unknown-name\n  self: grad * reslt",
        f"{_EXP}  # gradmill: ignore unknown-name a macro of the template declares it\n  self: grad * reslt",
    ),
    Rule(
        "unused-silence",
        "A silence silences nothing: the warning no longer occurs.",
        f"{_EXP}  # gradmill: ignore unknown-name a macro of the template declares it\n  self: grad * result",
        f"{_EXP}  self: grad * result",
    ),
)
