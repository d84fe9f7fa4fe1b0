// Arrays from and to .npy files, of the types that models here have.
import fs from "node:fs";
import { typeNamed, typeNames, typeOfNpy } from "./types.mjs";

export function encode(data, shape, type = "float32") {
  const dict = `{'descr': '${typeNamed(type).npy}', 'fortran_order': False, 'shape': (${shape.map((n) => `${n},`).join("")}), }`;
  const header = dict.padEnd(Math.ceil((dict.length + 11) / 64) * 64 - 11) + "\n";
  const start = Buffer.from("\x93NUMPY\x01\x00\x00\x00", "latin1");
  start.writeUInt16LE(header.length, 8);
  return Buffer.concat([
    start,
    Buffer.from(header, "latin1"),
    Buffer.from(data.buffer, data.byteOffset, data.byteLength),
  ]);
}

export function decode(bytes) {
  if (bytes.toString("latin1", 0, 6) !== "\x93NUMPY") throw new Error("no .npy file");
  const wide = bytes[6] > 1;
  const begin = wide ? 12 : 10;
  const end = begin + (wide ? bytes.readUInt32LE(8) : bytes.readUInt16LE(8));
  const header = bytes.toString("latin1", begin, end);
  const descr = /'descr': *'([^']*)'/.exec(header)?.[1];
  const shape = /'shape': *\(([^)]*)\)/
    .exec(header)?.[1]
    .split(",")
    .filter((n) => n.trim())
    .map(Number);
  const type = typeOfNpy(descr);
  if (!type || !shape || !/'fortran_order': *False/.test(header))
    throw new Error(`expected ${typeNames.join(", ")} in C order, not ${header.trim()}`);
  const copy = Uint8Array.prototype.slice.call(bytes, end); // at the start of memory of its own: aligned
  return { data: new type.Elements(copy.buffer), shape, type: type.name };
}

export const write = (file, data, shape, type) => fs.writeFileSync(file, encode(data, shape, type));

export function read(file) {
  try {
    return decode(fs.readFileSync(file));
  } catch (error) {
    throw new Error(`${file}: ${error.message}`);
  }
}
