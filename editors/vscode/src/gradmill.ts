// The command `gradmill`: the settings for it, the spec set of a file, and one run of it.

import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { dirname, isAbsolute, join } from "node:path";
import * as vscode from "vscode";

const LARGEST = 1 << 28; // bytes of output: one Node of the largest sets has some hundred kilobytes
const MARKS = [
  "specset.toml",
  "native_functions.yaml",
  "ATen/native/native_functions.yaml",
  "aten/src/ATen/native/native_functions.yaml",
];

/** How gradmill is started for a file, or for the first folder of the workspace. */
export class Gradmill {
  readonly folder: string;
  readonly command: string;
  /** Variables of the language server alone. A workspace cannot set them. */
  readonly ofServer: readonly string[];
  private readonly words: readonly string[];
  private readonly storage: string;

  constructor(context: vscode.ExtensionContext, file?: vscode.Uri) {
    const settings = vscode.workspace.getConfiguration("gradmill", file);
    const root = (file && vscode.workspace.getWorkspaceFolder(file)) ?? vscode.workspace.workspaceFolders?.[0];
    this.folder = root?.uri.fsPath ?? (file ? dirname(file.fsPath) : process.cwd());
    const command = settings.get("command", "gradmill");
    this.command = /[\\/]/.test(command) && !isAbsolute(command) ? join(this.folder, command) : command;
    this.words = settings.get<string[]>("arguments", []);
    this.ofServer = settings.get("hooks", false) ? ["hooks=1"] : [];
    this.storage = (context.storageUri ?? context.globalStorageUri).fsPath;
  }

  /** The variables of a command line. A cache of its own keeps the folder of the workspace as it is. */
  variables(): string[] {
    return [...this.words, ...(this.names("cache") ? [] : [`cache=${join(this.storage, "cache")}`])];
  }

  /** What a command prints about the set of a file. Rejects with what it reports. */
  run(words: readonly string[], file: vscode.Uri): Promise<string> {
    const set = this.names("specs") ? [] : [`specs=${setOf(file.fsPath)}`];
    const generated = this.names("generated") ? [] : [`generated=${join(this.storage, "generated")}`];
    const options = { cwd: this.folder, maxBuffer: LARGEST };
    return new Promise((resolve, reject) => {
      execFile(this.command, [...words, ...this.variables(), ...set, ...generated], options, (error, out, report) =>
        error ? reject(new Error(report.trim() || missing(this.command, error))) : resolve(out),
      );
    });
  }

  /** Whether the arguments have a variable. */
  names(variable: string): boolean {
    return this.words.some((word) => word.startsWith(`${variable}=`));
  }
}

/** The message for a command that cannot be started. */
function missing(command: string, error: Error): string {
  const absent = (error as NodeJS.ErrnoException).code === "ENOENT";
  return absent ? `${command}: there is no such command. Set gradmill.command, or install gradmill.` : error.message;
}

/** The nearest folder around a file that is a spec set. Rejects a file in none. */
export function setOf(path: string): string {
  for (let folder = dirname(path); ; folder = dirname(folder)) {
    if (MARKS.some((mark) => existsSync(join(folder, mark)))) {
      return folder;
    }
    if (folder === dirname(folder)) {
      throw new Error(`${path}: no folder around it is a spec set. Name one in gradmill.arguments: specs=…`);
    }
  }
}
