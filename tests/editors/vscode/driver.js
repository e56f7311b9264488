// What a person does in VS Code with derivatives.yaml open, and what comes back, as JSON in the file that OUT names.
// An extension of its own, in the extension host of the editor. The file has an entry of mv with `slef:` in place of
// `self:`.

const fs = require("node:fs");
const vscode = require("vscode");

const PATIENCE = 60_000; // milliseconds

async function waitFor(what, found) {
  const end = Date.now() + PATIENCE;
  while (Date.now() < end) {
    const value = await found();
    if (value) return value;
    await new Promise((done) => setTimeout(done, 20));
  }
  throw new Error(`never came: ${what}`);
}

/** The place of the first line that has a text, and of another text in that line. */
function place(document, start, inner) {
  for (let line = 0; line < document.lineCount; line++) {
    const { text } = document.lineAt(line);
    if (text.includes(start)) return new vscode.Position(line, text.indexOf(inner));
  }
  throw new Error(`no line has ${start}`);
}

const ask = (command, document, position) => vscode.commands.executeCommand(command, document.uri, position);
const uriOf = (location) => (location.uri ?? location.targetUri).toString();

async function session() {
  const document = await vscode.workspace.openTextDocument(process.env.SPECS);
  const editor = await vscode.window.showTextDocument(document);
  const diagnostics = () => vscode.languages.getDiagnostics(document.uri);
  await waitFor("a diagnostic", () => diagnostics().length);
  const shown = diagnostics().map((each) => ({ line: each.range.start.line + 1, message: each.message }));
  const start = place(document, "slef:", "slef");
  await editor.edit((edit) => edit.replace(new vscode.Range(start, start.translate(0, 4)), "self"));
  await waitFor("the diagnostic to go", () => diagnostics().length === 0);

  const mv = place(document, "- name: mv(", "mv(");
  const hover = await ask("vscode.executeHoverProvider", document, mv);
  const definition = await ask("vscode.executeDefinitionProvider", document, mv);
  const completion = await ask("vscode.executeCompletionItemProvider", document, place(document, "self: grad.unsqueeze", "grad."));
  editor.selection = new vscode.Selection(mv, mv);
  const node = await vscode.commands.executeCommand("gradmill.showNode");
  const cpp = vscode.workspace.textDocuments.find((each) => each.uri.scheme === "gradmill-node")?.getText();
  await vscode.window.showTextDocument(document);
  const page = await vscode.commands.executeCommand("gradmill.openPage");
  return {
    version: vscode.version,
    shown,
    hover: hover.flatMap((each) => each.contents.map((content) => content.value ?? content)),
    definition: definition.map(uriOf),
    completion: completion.items.map((item) => ({ label: item.label.label ?? item.label })),
    node,
    cpp,
    page,
  };
}

exports.activate = () =>
  session()
    .catch((error) => ({ error: String(error.stack ?? error) }))
    .then((found) => {
      fs.writeFileSync(`${process.env.OUT}.part`, JSON.stringify(found));
      fs.renameSync(`${process.env.OUT}.part`, process.env.OUT);
    });
