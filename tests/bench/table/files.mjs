// Writes files for the programs here.
import fs from "node:fs";

/** A file appears whole or not at all. */
export function write(file, text) {
  fs.writeFileSync(`${file}.part`, text);
  fs.renameSync(`${file}.part`, file);
}
