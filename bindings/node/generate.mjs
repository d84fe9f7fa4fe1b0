// Makes generated/interfaces.js and generated/*.d.ts of the IDL files: everything that Web IDL says
// about WebNN's interfaces. `node generate.mjs`; needs `npm ci` once.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';

import { parse } from 'webidl2';

import { interfacesOf } from './generator/interfaces.mjs';
import { modelOf } from './generator/model.mjs';
import { typesOf } from './generator/types.mjs';

const here = (path) => new URL(path, import.meta.url);
const read = (name) =>
  parse(readFileSync(here(`idl/${name}.idl`), 'utf8')).map((node) => ({
    ...node,
    from: name,
    node,
  }));

const model = modelOf([...read('webnn'), ...read('extensions')]);
mkdirSync(here('generated'), { recursive: true });
writeFileSync(here('generated/interfaces.js'), interfacesOf(model));
const types = typesOf(model);
writeFileSync(here('generated/webnn.d.ts'), types.module);
writeFileSync(here('generated/global.d.ts'), types.global);
