// Bundles the extension into dist/extension.js, and the licenses of what is in it into dist/LICENSES.txt.

import { build } from "esbuild";
import { mkdir, readFile, readdir, writeFile } from "node:fs/promises";
import { join } from "node:path";

const result = await build({
  entryPoints: ["src/extension.ts"],
  outfile: "dist/extension.js",
  bundle: true,
  minify: true,
  metafile: true,
  platform: "node",
  target: "node18",
  format: "cjs",
  external: ["vscode"],
});

const packages = new Set();
for (const input of Object.keys(result.metafile.inputs)) {
  const name = /.*node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(input)?.[1];
  if (name) packages.add(name);
}

const texts = [];
for (const name of [...packages].sort()) {
  const folder = join("node_modules", name);
  const files = (await readdir(folder)).filter((file) => /^licen[cs]e/i.test(file));
  if (files.length === 0) throw new Error(`${name}: its license is missing`);
  texts.push(`${name}\n\n${await readFile(join(folder, files[0]), "utf8")}`);
}
await mkdir("dist", { recursive: true });
await writeFile("dist/LICENSES.txt", texts.join(`\n${"-".repeat(80)}\n\n`));
