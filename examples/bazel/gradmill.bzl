"""gradmill, as it is installed, for Bazel: a repository of its code, and a rule that generates Nodes."""

_FIND = """
import os, sys
import pipeline
print(os.path.dirname(os.path.abspath(pipeline.__file__)))
"""

_BUILD = """
# The dependencies of a run besides its spec set: a new version of gradmill regenerates everything.
filegroup(
    name = "code",
    srcs = glob(["pipeline/**"], exclude = ["**/__pycache__/**"]),
    visibility = ["//visibility:public"],
)
"""

def _gradmill_repository(repository):
    command = repository.which("gradmill")
    python = repository.which("python3")
    found = repository.execute([python, "-c", _FIND])
    if not command or found.return_code != 0:
        fail("gradmill is not installed for %s, or its command is not on the PATH" % python)
    repository.symlink(found.stdout.strip(), "pipeline")
    repository.file("BUILD", _BUILD)
    repository.file("command.bzl", "GRADMILL = %r\n" % str(command))

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

def gradmill_generate(name, gradmill, specs, root, shards = 16, options = ""):
    """Generates the Nodes of a spec set.

    Args:
      name: of the rule. Its outputs are what generated_sources and generated_headers give.
      gradmill: GRADMILL of the repository's command.bzl.
      specs: all files of the spec set.
      root: the one of them that stands for it: a specset.toml, or a file in the folder that is the set.
      shards: over how many sources Nodes are spread.
      options: more variables of gradmill's command line, as in "release=2.13 strict=1".
    """

    # Bazel compares contents, so it does not recompile an unchanged shard. It deletes the files before this action, so
    # gradmill writes all of them, from its cache where it can.
    native.genrule(
        name = name,
        srcs = [specs, root, "@gradmill//:code"],
        outs = generated_sources(shards) + generated_headers(shards),
        cmd = """
            out="$$PWD/$(@D)"
            specs="$$PWD/$(location {root})"
            case "$$specs" in *.toml) ;; *) specs="$$(dirname "$$specs")" ;; esac
            {gradmill} specs="$$specs" generated="$$out/generated" cache="$$out/cache" families=nodes \
                layout=split shards={shards} {options} > /dev/null
        """.format(
            gradmill = gradmill,
            root = root,
            shards = shards,
            options = options,
        ),
        tags = ["local"],  # gradmill keeps its cache next to its outputs
    )
