// "Show the Node": the generated C++ of the Nodes that are made from the entry at the cursor.

import * as vscode from "vscode";
import { Gradmill } from "./gradmill";

export const SCHEME = "gradmill-node";

interface Explanation {
  readonly made_into: readonly string[];
}

interface Unit {
  readonly unit: string;
  readonly family: string;
  readonly pieces: Readonly<Record<string, string>>;
}

/** The documents that show Nodes, by address. They are read-only. */
export class Nodes implements vscode.TextDocumentContentProvider {
  private readonly texts = new Map<string, string>();
  private readonly changed = new vscode.EventEmitter<vscode.Uri>();
  readonly onDidChange = this.changed.event;

  constructor(private readonly context: vscode.ExtensionContext) {}

  provideTextDocumentContent(uri: vscode.Uri): string {
    return this.texts.get(uri.toString()) ?? "";
  }

  /** Opens the Node of the entry at a line, counted from 0, of a saved file. Resolves with its name. */
  async show(file: vscode.Uri, line: number): Promise<string | undefined> {
    const gradmill = new Gradmill(this.context, file);
    const explained = await gradmill.run(["explain", `${file.fsPath}:${line + 1}`, "format=json"], file);
    const names = (JSON.parse(explained) as Explanation[]).flatMap((each) => each.made_into.map(unitOf));
    const units = await unitsOf(gradmill, [...new Set(names)], file);
    const nodes = units.filter((unit) => unit.family === "nodes");
    const node = nodes.length > 1 ? await chosen(nodes) : nodes[0];
    if (node) {
      await this.open(node);
    } else if (nodes.length === 0) {
      void vscode.window.showInformationMessage("No Node is made from this line.");
    }
    return node?.unit;
  }

  private async open(node: Unit): Promise<void> {
    const uri = vscode.Uri.from({ scheme: SCHEME, path: `/${node.unit}.cpp` });
    this.texts.set(uri.toString(), Object.values(node.pieces).filter(Boolean).join("\n\n") + "\n");
    this.changed.fire(uri);
    const document = await vscode.workspace.openTextDocument(uri);
    await vscode.window.showTextDocument(document, { viewColumn: vscode.ViewColumn.Beside, preview: true });
  }
}

/** The unit in a line of `made_into`: "MvBackward0, in Functions.h, Functions.cpp". */
function unitOf(line: string): string {
  return line.split(", in ")[0];
}

async function unitsOf(gradmill: Gradmill, names: readonly string[], file: vscode.Uri): Promise<Unit[]> {
  const units: Unit[] = [];
  for (const name of names.filter((each) => !each.includes("::"))) {
    const lines = (await gradmill.run(["show", "emit", name], file)).split("\n").filter(Boolean);
    units.push(...lines.map((line) => JSON.parse(line) as Unit));
  }
  return units;
}

async function chosen(nodes: readonly Unit[]): Promise<Unit | undefined> {
  const name = await vscode.window.showQuickPick(nodes.map((node) => node.unit), { placeHolder: "Node" });
  return nodes.find((node) => node.unit === name);
}
