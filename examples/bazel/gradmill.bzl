"""gradmill, as it is installed, for Bazel: a repository of its code and libraries, and a rule that generates Nodes."""

_LIBRARIES = ["gradmill", "msgspec", "xxhash", "yaml"]

_FIND = """
import importlib.util, os, sys
print(os.path.realpath(getattr(sys, "_base_executable", None) or sys.executable))
for name in sys.argv[1:]:
    print(os.path.dirname(os.path.abspath(importlib.util.find_spec(name).origin)))
"""

# Python sees the files of the repository and its own library, nothing else of the machine: no other package, no
# environment variable, no bytecode.
_START = """#!/bin/sh
exec "{python}" -I -S -B -X utf8 "$0.runfiles/{repository}/start.py" "$@"
"""

_START_PYTHON = """
import os, sys
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "site"))
from gradmill.cli.start.command import run
run()
"""

_BUILD = """
package(default_visibility = ["//visibility:public"])

# The dependencies of a run besides its spec set: a new version of gradmill regenerates everything.
filegroup(
    name = "code",
    srcs = glob(["site/gradmill/**"], exclude = ["**/__pycache__/**"]),
)

sh_binary(
    name = "gradmill",
    srcs = ["gradmill.sh"],
    data = ["start.py"] + glob(["site/**"], exclude = ["**/__pycache__/**"]),
)
"""

def _gradmill_repository(repository):
    python = repository.which("python3")
    found = repository.execute([python, "-c", _FIND] + _LIBRARIES)
    if found.return_code != 0:
        fail("gradmill is not installed for %s: %s" % (python, found.stderr))
    lines = found.stdout.strip().split("\n")
    for name, folder in zip(_LIBRARIES, lines[1:]):
        repository.symlink(folder, "site/" + name)
    repository.file("gradmill.sh", _START.format(python = lines[0], repository = repository.name))
    repository.file("start.py", _START_PYTHON, executable = False)
    repository.file("BUILD", _BUILD)

gradmill_repository = repository_rule(
    implementation = _gradmill_repository,
    environ = ["PATH"],
    local = True,
)

def generated_sources(shards):
    """The sources of the Nodes, spread over so many shards."""
    parts = ["", "_formulas"]
    return ["generated/Functions_%d%s.cpp" % (k, part) for k in range(shards) for part in parts]

def generated_headers(shards):
    """Their headers."""
    return ["generated/Functions.h", "generated/Functions_common.h"] + [
        "generated/Functions_%d.h" % k
        for k in range(shards)
    ]

def _generate(ctx):
    root = ctx.file.root
    variables = ctx.actions.args()
    variables.add("specs=" + (root.path if root.extension == "toml" else root.dirname or "."))
    variables.add("generated=" + ctx.outputs.outs[0].dirname)
    variables.add_all(["families=nodes", "layout=split", "shards=%d" % ctx.attr.shards] + ctx.attr.options)
    variables.use_param_file("@%s", use_always = True)
    variables.set_param_file_format("multiline")
    requirements = {"block-network": "1"}
    if ctx.attr.workers:
        requirements.update({
            "supports-workers": "1",
            "requires-worker-protocol": "json",
        })
    ctx.actions.run(
        executable = ctx.executable.gradmill,
        arguments = ["worker", variables],
        inputs = ctx.files.specs + [root],
        outputs = ctx.outputs.outs,
        mnemonic = "Gradmill",
        progress_message = "Generating %s" % ctx.label,
        execution_requirements = requirements,
    )

_gradmill_generate = rule(
    implementation = _generate,
    attrs = {
        "gradmill": attr.label(executable = True, cfg = "host"),
        "options": attr.string_list(),
        "outs": attr.output_list(mandatory = True),
        "root": attr.label(allow_single_file = True, mandatory = True),
        "shards": attr.int(),
        "specs": attr.label_list(allow_files = True, mandatory = True),
        "workers": attr.bool(),
    },
)

def gradmill_generate(
        name,
        specs,
        root,
        shards = 16,
        options = [],
        workers = False,
        gradmill = "@gradmill//:gradmill",
        **more):
    """Generates the Nodes of a spec set.

    Args:
      name: of the rule. Its outputs are what generated_sources and generated_headers give.
      specs: all files of the spec set, as a list. No other file is read.
      root: the one of them that stands for it: a specset.toml, or a file in the folder that is the set.
      shards: over how many sources Nodes are spread.
      options: more variables of gradmill's command line, as in ["release=2.13", "strict=1"].
      workers: whether gradmill may run as a persistent worker. They speak JSON: Bazel 5 or newer, or Bazel 4 with
        --experimental_worker_allow_json_protocol.
      gradmill: the program of the repository.
      **more: attributes that every rule has, as visibility and tags.
    """
    _gradmill_generate(
        name = name,
        gradmill = gradmill,
        options = options,
        # Bazel compares contents, so it does not recompile an unchanged shard.
        outs = generated_sources(shards) + generated_headers(shards),
        root = root,
        shards = shards,
        specs = specs,
        workers = workers,
        **more
    )
