// Starts `gradmill lsp`, and offers two commands. All that it knows of derivatives is the language server's.

import { basename } from "node:path";
import * as vscode from "vscode";
import { LanguageClient, ServerOptions } from "vscode-languageclient/node";
import { Gradmill, setOf } from "./gradmill";
import { Nodes, SCHEME } from "./node";

let client: Promise<LanguageClient | undefined> | undefined; // none until a file of a set is open

export function activate(context: vscode.ExtensionContext): void {
  const nodes = new Nodes(context);
  context.subscriptions.push(
    vscode.workspace.registerTextDocumentContentProvider(SCHEME, nodes),
    vscode.commands.registerCommand("gradmill.showNode", () =>
      reported("gradmill explains the entry", (file, line) => nodes.show(file, line)),
    ),
    vscode.commands.registerCommand("gradmill.openPage", () =>
      reported("gradmill writes the page", (file) => openPage(context, file)),
    ),
    vscode.window.onDidChangeActiveTextEditor(noteSet),
    vscode.workspace.onDidOpenTextDocument(() => startIfNeeded(context)),
    vscode.workspace.onDidChangeConfiguration(async (event) => {
      if (event.affectsConfiguration("gradmill")) {
        await stop();
        startIfNeeded(context);
      }
    }),
  );
  noteSet(vscode.window.activeTextEditor);
  startIfNeeded(context);
}

export function deactivate(): Promise<void> {
  return stop();
}

/** Starts the server when the first file of a spec set is open: other YAML needs none. */
function startIfNeeded(context: vscode.ExtensionContext): void {
  if (client === undefined && vscode.workspace.textDocuments.some((document) => isOfSet(context, document))) {
    client = start(context);
  }
}

async function start(context: vscode.ExtensionContext): Promise<LanguageClient | undefined> {
  const gradmill = new Gradmill(context);
  const server: ServerOptions = {
    command: gradmill.command,
    args: ["lsp", ...gradmill.variables(), ...gradmill.ofServer],
    options: { cwd: gradmill.folder },
  };
  const started = new LanguageClient("gradmill", "gradmill", server, {
    documentSelector: [{ scheme: "file", language: "yaml" }],
    synchronize: { fileEvents: vscode.workspace.createFileSystemWatcher("**/{*.yaml,specset.toml,gradmill.toml,pyproject.toml,RELEASE,version.txt}") },
  });
  try {
    await started.start();
    return started;
  } catch (error) {
    const hint = "Set gradmill.command, or run: pip install 'gradmill[lsp]'";
    void vscode.window.showErrorMessage(`${gradmill.command} lsp: ${messageOf(error)}. ${hint}`);
    return undefined;
  }
}

async function stop(): Promise<void> {
  const running = client;
  client = undefined;
  await (await running)?.dispose();
}

/** Shows the buttons of the commands in files of a spec set. */
function noteSet(editor: vscode.TextEditor | undefined): void {
  const inSet = editor !== undefined && isYaml(editor.document) && isInSet(editor.document.uri.fsPath);
  void vscode.commands.executeCommand("setContext", "gradmill.inSet", inSet);
}

/** Whether a document is of the set that the arguments name, or has a set around it. */
function isOfSet(context: vscode.ExtensionContext, document: vscode.TextDocument): boolean {
  return isYaml(document) && (new Gradmill(context, document.uri).names("specs") || isInSet(document.uri.fsPath));
}

function isYaml(document: vscode.TextDocument): boolean {
  return document.languageId === "yaml" && document.uri.scheme === "file";
}

function isInSet(path: string): boolean {
  try {
    return Boolean(setOf(path));
  } catch {
    return false;
  }
}

/** Writes the page of a file's set and opens it in a browser. Resolves with its path. */
async function openPage(context: vscode.ExtensionContext, file: vscode.Uri): Promise<string> {
  const printed = await new Gradmill(context, file).run(["page"], file);
  const index = /^(.*): \d+ files, /m.exec(printed)?.[1];
  if (index === undefined || basename(index) !== "index.html") {
    throw new Error(`gradmill page: ${printed}`);
  }
  const here = vscode.env.remoteName === undefined; // else the browser is on another machine
  if (!here || !(await vscode.env.openExternal(vscode.Uri.file(index)))) {
    void vscode.window.showInformationMessage(`The page is ${index}`);
  }
  return index;
}

/** Runs a command on the saved file of the active editor, with a notice, and shows its error. */
async function reported<T>(title: string, work: (file: vscode.Uri, line: number) => Promise<T>): Promise<T | undefined> {
  const editor = vscode.window.activeTextEditor;
  if (editor?.document.uri.scheme !== "file") {
    void vscode.window.showErrorMessage("Open derivatives.yaml or native_functions.yaml first.");
    return undefined;
  }
  try {
    await editor.document.save();
    const line = editor.selection.active.line;
    const options = { location: vscode.ProgressLocation.Window, title };
    return await vscode.window.withProgress(options, () => work(editor.document.uri, line));
  } catch (error) {
    void vscode.window.showErrorMessage(messageOf(error));
    return undefined;
  }
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
