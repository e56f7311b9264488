"""gradmill's plugins of doit, by kind: `gradmill` has them from here, doit from the metadata of the package."""

PLUGINS = {
    "BACKEND": {"gradmill": "pipeline.front.backend:Backend"},
    "COMMAND": {
        "check": "pipeline.front.check.command:Check",
        "clean": "pipeline.front.console.by_name:Clean",
        "coverage": "pipeline.front.commands.coverage:Coverage",
        "diff": "pipeline.front.commands.diff:Diff",
        "dumpdb": "pipeline.front.dump:DumpDB",
        "explain": "pipeline.front.commands.explain:Explain",
        "export": "pipeline.front.commands.export:Export",
        "forget": "pipeline.front.console.by_name:Forget",
        "gc": "pipeline.front.commands.gc:Gc",
        "ignore": "pipeline.front.console.by_name:Ignore",
        "info": "pipeline.front.commands.info:Info",
        "list": "pipeline.front.console.listing:List",
        "lsp": "pipeline.front.lsp.command:Lsp",
        "page": "pipeline.front.page.command:Page",
        "reset-dep": "pipeline.front.console.by_name:ResetDep",
        "run": "pipeline.front.console.run:Run",
        "schema": "pipeline.front.commands.schema:Schema",
        "show": "pipeline.front.commands.show:Show",
        "strace": "pipeline.front.console.by_name:Strace",
        "watch": "pipeline.front.commands.watch:Watch",
    },
}
