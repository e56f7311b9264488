"""gradmill's doit plugins, by kind. `gradmill` reads them here; doit reads the package's metadata."""

PLAIN_RUN = "pipeline.front.commands.run:PlainRun"  # replaces `run` for a command line of variables alone


PLUGINS = {
    "BACKEND": {"gradmill": "pipeline.front.doit.backend:Backend"},
    "COMMAND": {
        "backend-stubs": "pipeline.front.commands.backend_stubs:BackendStubs",
        "check": "pipeline.front.commands.check:Check",
        "clean": "pipeline.front.commands.clean:Clean",
        "completion": "pipeline.front.commands.completion:Completion",
        "coverage": "pipeline.front.commands.coverage:Coverage",
        "diff": "pipeline.front.commands.diff:Diff",
        "dumpdb": "pipeline.front.commands.dumpdb:DumpDB",
        "explain": "pipeline.front.commands.explain:Explain",
        "export": "pipeline.front.commands.export:Export",
        "forget": "pipeline.front.commands.forget:Forget",
        "generate-code": "pipeline.front.commands.generate_code:GenerateCode",
        "gc": "pipeline.front.commands.gc:Gc",
        "help": "pipeline.front.commands.help:Help",
        "ignore": "pipeline.front.commands.ignore:Ignore",
        "info": "pipeline.front.commands.info:Info",
        "init": "pipeline.front.commands.init:Init",
        "list": "pipeline.front.commands.list:List",
        "lsp": "pipeline.front.commands.lsp:Lsp",
        "page": "pipeline.front.commands.page:Page",
        "reset-dep": "pipeline.front.commands.reset_dep:ResetDep",
        "rule": "pipeline.front.commands.rule:RuleCommand",
        "run": "pipeline.front.commands.run:Run",
        "schema": "pipeline.front.commands.schema:Schema",
        "show": "pipeline.front.commands.show:Show",
        "strace": "pipeline.front.commands.strace:Strace",
        "tabcompletion": "pipeline.front.commands.tabcompletion:TabCompletion",
        "torchgen": "pipeline.front.commands.torchgen:Torchgen",
        "verify": "pipeline.front.commands.verify:Verify",
        "version": "pipeline.front.commands.version:Version",
        "watch": "pipeline.front.commands.watch:Watch",
        "worker": "pipeline.front.commands.worker:Worker",
    },
}
