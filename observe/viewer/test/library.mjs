// The sources that need no page, as a module for tests in node.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { build } from "esbuild";

const modules = [
  "data/trace",
  "data/decode",
  "data/links",
  "data/search",
  "data/schedule",
  "layout/nesting",
  "layout/tracks",
  "layout/items",
  "layout/levels",
  "layout/sheet",
  "draw/palette",
  "draw/gl",
  "draw/surface",
  "draw/slices",
  "draw/counters",
  "view",
];

const outfile = join(mkdtempSync(join(tmpdir(), "viewer-")), "library.mjs");
await build({
  stdin: {
    contents: modules.map((name) => `export * from "./${name}";`).join("\n"),
    resolveDir: fileURLToPath(new URL("../src", import.meta.url)),
    loader: "ts",
  },
  bundle: true,
  format: "esm",
  outfile,
});

export const library = await import(pathToFileURL(outfile).href);
rmSync(outfile);

/** A trace with all that is made from it. */
export function prepared(data) {
  const { decode, Links, arrange, Items, levelsOf, Sheet, Steps, fine } = library;
  const trace = decode(data);
  const links = new Links(trace);
  const tracks = arrange(trace);
  const items = new Items(trace, tracks);
  const levels = levelsOf(items, trace.first, trace.last);
  const sheet = new Sheet(trace, tracks, items, fine);
  return { trace, links, tracks, items, levels, sheet, steps: new Steps(trace, links) };
}
