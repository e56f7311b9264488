"""The commands of `gradmill`: one table, from which dispatch, parsing, help, completion and the docs' list come."""

from __future__ import annotations

from gradmill.cli.commands.command import (
    CLEAN,
    GENERATE,
    GROUPS,
    OTHER,
    OTHERS,
    OUTPUT,
    QUIET,
    UNDERSTAND,
    Command,
    Option,
    format_option,
)
from gradmill.doors import loaded, readers

_OWN = {
    "init": Command(
        GENERATE,
        "write a small spec set: its description, and a first operator",
        "[FOLDER] [specs=torch|core]",
        "FOLDER is the current one by default. specs= is the set that it begins on top of: the installed torch, else"
        " core. Overwrites no file. Then run gradmill in the folder, and read docs/vendors.md.",
    ),
    "run": Command(
        GENERATE,
        "regenerate what changed; the default command",
        "[NAME …] [variable=value …]",
        "NAME is a stage, a unit (emit:AddBackward0), the units of a family (emit:nodes), a generated file"
        " (shard:Functions.cpp, or its path) or a pattern of these (emit:Add*). Without NAME: all.",
        (Option("--verbose", "print a line for each unit and each file", "-v"), QUIET),
    ),
    "watch": Command(
        GENERATE,
        "keep generated files up to date while specs are edited",
        "[specs=SET …] [verify=1]",
        "With verify=1, the formulas that an edit changed are then verified, while watch goes on; the next edit ends a"
        " verification that still runs. Ends with Ctrl-C. Restarts itself when the description or the release of the"
        " spec set changes, or the settings file.",
    ),
    "check": Command(
        GENERATE,
        "report all errors and warnings; write no file",
        "[FILE …] [specs=SET …] [format=text|json|github|sarif] [strict=1] [fix=1]",
        "Does all the work of a run except writing: the generated files are unchanged, and so is the cache of a set"
        " that was built. With FILE, as editors and hooks name files: checks the sets that these are part of. A"
        " cache=DIR keeps what the next check or run needs. A line names a set that has no problems. The exit status"
        " is 1 if there is an error, or if strict=1 and there is a warning. fix=1 first applies each certain 'did you"
        " mean' to the spec files and prints the changes on standard error, then reports the remaining problems.",
        (QUIET,),
    ),
    "generate-code": Command(GENERATE, "write what PyTorch's tools/setup_helpers/generate_code.py writes", script=True),
    "torchgen": Command(GENERATE, "write what python -m torchgen.gen writes", script=True),
    "backend-stubs": Command(GENERATE, "write what python -m torchgen.gen_backend_stubs writes", script=True),
    "pyi": Command(GENERATE, "write what PyTorch's tools/pyi/gen_pyi.py writes", script=True),
    "explain": Command(
        UNDERSTAND,
        "report what a result depends on and why it would be rebuilt",
        "[NAME …] [FILE:LINE …] [specs=SET …] [format=json]",
        "NAME is a Node, an operator, also as torch.exp, aten::exp or aten.exp.default, a helper that formulas call, a"
        " generated file, a stage, or all of emit, shard or manifest. FILE:LINE is a place in a generated file, as a"
        " compiler prints it: the report names the entry that the line comes from. Or it is a place in a YAML file,"
        " in specset.toml or in a header of helpers. Without NAME: every entry that changed since the last run, the"
        " Nodes that depend on it, and the files that will change. format=json prints one array.",
    ),
    "rule": Command(
        UNDERSTAND,
        "print what a warning means, with a bad and a good example",
        "[NAME …] [format=json]",
        "NAME is the name of a rule, as reports print it in brackets: unknown-name. Without NAME: all rules, one on a"
        " line. format=json prints one array.",
    ),
    "list": Command(
        UNDERSTAND,
        "list the stages, units and files, and their state with --status",
        "[NAME …] [--all] [--status] [specs=SET …] [format=json]",
        "NAME is one of these, or a pattern of them. format=json prints one array.",
        (
            Option("--all", "also list each unit and each generated file"),
            Option("--status", "print the state of each: (R)un or (U)p-to-date", "-s"),
            Option("--quiet", "print only names", "-q"),
        ),
    ),
    "show": Command(
        UNDERSTAND,
        "print the rows of a stage as JSON, one object per line",
        "STAGE [NAME] [specs=SET …]",
        f"STAGE is one of specs, schemas, derivatives, infos, foreach, match, {', '.join([*readers(), 'emit, shard'])},"
        " differentiability: how autograd handles each function, declarations: what each function is in C++, or"
        " bindings: what Python parses and calls. NAME is an operator, with or without overload, a schema, a Node, a"
        " unit or a file. Stages are brought up to date first; generated files are not touched.",
    ),
    "coverage": Command(
        UNDERSTAND,
        "report which functions have a forward derivative, what is not implemented, what Nodes save",
        "[NAME …] [--only=KIND] [specs=SET …] [format=json]",
        "Prints totals and a line for every Node; with NAMEs (operators or Nodes), only for these, and with --only"
        " for those of a kind: without a forward derivative (no-forward), with a gradient that only raises an error"
        " (not-implemented), which save an input tensor, an output tensor, or nothing. Stages are brought up to date"
        " first.",
        (
            format_option("text", "json"),
            Option(
                "--only",
                "only these Nodes",
                value="KIND",
                values=("no-forward", "not-implemented", "saves-input", "saves-output", "saves-nothing"),
            ),
            OUTPUT,
        ),
    ),
    "diff": Command(
        UNDERSTAND,
        "report what changed in autograd, or in generated code, between two spec sets or releases",
        "against=SET|git:REVISION [against_release=X.Y.Z] [--code] [specs=SET …]",
        "Compares the set in `against` (before) with the set in `specs` (after), operator by operator: added, removed,"
        " renumbered, formulas, forward derivatives, saved variables. With families=bindings also the signatures of the"
        " Python bindings, with annotated_args the required arguments, with lazy the functions of the lazy backend."
        " Both may be core, torch, a folder or a wheel. against=git:HEAD~1 is the set in `specs` as it was in a commit,"
        " a branch or a tag of the git repository around it. With --code, compares the text of each unit in the"
        " generated files; the exit status is 1 if any byte of them changes, else 0.",
        (
            Option("--code", "compare the generated code"),
            format_option("text", "json", "html", "markdown"),
            OUTPUT,
        ),
    ),
    "export": Command(
        OTHERS,
        "print a rule for another build system",
        "ninja|cmake|bazel|cmakedir|specsdir [specs=SET …]",
        "ninja: a file to include or to run: gradmill export ninja > build.ninja. cmake: a file to include, with the"
        " rule, and the generated files as variables. bazel: a file to load, gradmill.bzl, with the rule and lists of"
        " its files. All paths in them are absolute. cmakedir: the folder of gradmill's CMake package, for cmake"
        " -Dgradmill_DIR=… specsdir: the folder of the spec set, to copy it: cp -r $(gradmill export specsdir) mine",
    ),
    "schema": Command(
        OTHERS,
        "print the JSON Schema of a spec file, of the manifest, or of what a command prints",
        "TYPE",
        "TYPE is derivatives or native_functions for the YAML files; manifest; specset for descriptions; problems for"
        " the reports of check and of a run with format=json; coverage, diff, explain, list or rule for what the"
        " command prints as JSON, diff.code for diff --code; work-request and work-response for what a worker reads"
        " and writes; a stage for one line of its show output (derivatives.row for the stage derivatives); or one of"
        " the queries of a stage: infos.targets, derivatives.definitions.",
    ),
    "worker": Command(
        OTHERS,
        "run as an action of Bazel, in a persistent worker or alone",
        "[--persistent_worker] [name=value …] [@FILE …]",
        "An action is a run with the variables in the files, one a line. With --persistent_worker it reads requests in"
        " JSON on standard input and answers on standard output until the input ends. schema work-request and schema"
        " work-response describe them. Without cache=, results stay in memory and in a temporary folder.",
        (
            Option("--persistent_worker", "serve requests"),
            Option("--protocol", "of requests: json", value="PROTOCOL"),
        ),
    ),
    "clean": Command(
        CLEAN,
        "delete the generated files",
        "[NAME …] [--dry-run] [specs=SET …]",
        "Deletes the manifest and the generated files; with NAMEs, as run has them, only these. A file that gradmill"
        " did not write, a link or an input is kept and reported; the exit status is then 1.",
        (Option("--dry-run", "print what would be deleted", "-n"), QUIET),
    ),
    "gc": Command(
        CLEAN,
        "drop unneeded rows, values and verdicts from the cache",
        "[cache=DIR]",
        "Keeps the results of each spec set's last run, in every layout; drops all older results.",
    ),
    "completion": Command(
        OTHER,
        "print a completion script for bash, zsh or fish",
        "bash|zsh|fish",
        "The first line of the script says where to put it.",
    ),
    "help": Command(OTHER, "show this page, or the help of a command", "[COMMAND]"),
    "version": Command(OTHER, "print the version of gradmill, and the releases of PyTorch that it knows", file="help"),
}
_EXTENSIONS = {name: command for module in loaded("commands") for name, command in module.COMMANDS.items()}
COMMANDS: dict[str, Command] = dict(sorted((_OWN | _EXTENSIONS).items(), key=lambda item: GROUPS.index(item[1].group)))

# Words of earlier versions -> what to write now. Each is near to another word, which would be a wrong hint.
REMOVED = {
    "cache": "other machines may reuse the folder `cache` itself: docs/scale.md",
    "dumpdb": "gradmill keeps no notes about tasks",
    "forget": "delete the folder of the cache; in a clone, doit itself forgets tasks",
    "ignore": "in a clone, doit itself ignores tasks",
    "info": "gradmill explain NAME says what it depends on, and why it would be rebuilt",
    "remote": "other machines may reuse the folder `cache` itself: docs/scale.md",
    "reset-dep": "inputs are compared by content: none can be marked as unchanged",
    "strace": "gradmill explain NAME says what it depends on",
    "tabcompletion": "gradmill completion bash prints a script, and so do zsh and fish",
}
