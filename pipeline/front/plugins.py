"""gradmill's plugins of doit, by kind: `gradmill` has them from here, doit from the metadata of the package."""

PLUGINS = {
    "BACKEND": {"gradmill": "pipeline.front.backend:Backend"},
    "COMMAND": {
        "check": "pipeline.front.check.command:Check",
        "coverage": "pipeline.front.commands.coverage:Coverage",
        "diff": "pipeline.front.commands.diff:Diff",
        "dumpdb": "pipeline.front.dump:DumpDB",
        "explain": "pipeline.front.commands.explain:Explain",
        "export": "pipeline.front.commands.export:Export",
        "gc": "pipeline.front.commands.gc:Gc",
        "info": "pipeline.front.console.info:Info",
        "list": "pipeline.front.console.listing:List",
        "lsp": "pipeline.front.lsp.command:Lsp",
        "page": "pipeline.front.page.command:Page",
        "run": "pipeline.front.console.run:Run",
        "schema": "pipeline.front.commands.schema:Schema",
        "show": "pipeline.front.commands.show:Show",
        "watch": "pipeline.front.commands.watch:Watch",
    },
}
