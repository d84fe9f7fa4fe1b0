// Makes page.html: one file with the style and the script in it, and a policy that allows just
// these two and no network. With --check it says whether the page that is checked in is what the
// sources make.
import { createHash } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { build, transform } from "esbuild";

const here = dirname(fileURLToPath(import.meta.url));
const read = (file) => readFileSync(join(here, file), "utf8");
const hash = (text) => `'sha256-${createHash("sha256").update(text).digest("base64")}'`;

const bundle = await build({
  entryPoints: [join(here, "src/main.ts")],
  bundle: true,
  minify: true,
  format: "iife",
  target: "es2022",
  charset: "utf8",
  legalComments: "none",
  write: false,
});
const script = bundle.outputFiles[0].text.trim();
const sheets = ["base", "tracks", "panel", "lists", "phone", "print"].map((name) =>
  read(`src/style/${name}.css`),
);
const style = (await transform(sheets.join(""), { loader: "css", minify: true })).code.trim();
if (/<\/script|<!--|@TRACE@/i.test(script)) throw new Error("the script cannot stand in a page");

const policy = [
  "default-src 'none'",
  `script-src ${hash(script)}`,
  `style-src ${hash(style)}`,
  "base-uri 'none'",
  "form-action 'none'",
].join("; ");
const parts = { "@POLICY@": policy, "@STYLE@": style, "@SCRIPT@": script };
const page = read("src/page.html").replace(/@(POLICY|STYLE|SCRIPT)@/g, (name) => parts[name]);
if (page.split("@TRACE@").length !== 2) throw new Error("the page needs @TRACE@ just once");

const file = join(here, "page.html");
if (process.argv.includes("--check")) {
  if (page !== readFileSync(file, "utf8")) {
    console.error("observe/viewer/page.html is not what its sources make: run 'npm run build' in observe/viewer/");
    process.exit(1);
  }
} else {
  writeFileSync(file, page);
  console.log(`page.html: ${(page.length / 1000).toFixed(0)} KB`);
}
