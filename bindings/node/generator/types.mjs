// The interfaces in TypeScript.
import { operationsOf } from './model.mjs';

const primitives = {
  boolean: 'boolean',
  DOMString: 'string',
  USVString: 'string',
  'bigint or double': 'bigint | number',
};

const typeName = (type, result) => {
  switch (type.kind) {
    case 'primitive':
      return primitives[type.name] ?? 'number';
    case 'sequence':
      return result
        ? `${inParentheses(typeName(type.of, result))}[]`
        : `Iterable<${typeName(type.of, result)}>`;
    case 'frozen':
      return `readonly ${typeName(type.of, result)}[]`;
    case 'promise':
      return `Promise<${typeName(type.of, true)}>`;
    case 'record':
      return `Record<string, ${typeName(type.of, result)}>`;
    case 'number or sequence':
      return 'number | Iterable<number>';
    case 'buffer':
      return 'AllowSharedBufferSource';
    case 'array buffer':
      return 'ArrayBuffer';
    case 'undefined':
      return 'void';
    case 'view':
      return 'ArrayBufferView';
    case 'nullable':
      return `${typeName(type.of, result)} | null`;
    case 'dimension':
    case 'union':
      return type.all.map((each) => typeName(each, result)).join(' | ');
    case 'buffer or':
      return `AllowSharedBufferSource | ${type.of.kind === 'primitive' ? 'string | URL' : typeName(type.of, result)}`;
    case 'any':
      return 'Error | null';
    default:
      return type.name === 'GPUDevice' ? 'object' : type.name;
  }
};
const inParentheses = (text) => (text.includes(' ') ? `(${text})` : text);

const note = ({ from }, indent) =>
  from === 'extensions' ? `${indent}/** An extension: not in WebNN. */\n` : '';

const dictionaryOf = ({ name, from, parent, members, given }) => {
  const lines = members.map(
    (member) =>
      `${note(member, '  ')}  ${member.name}${
        member.required || !given ? '' : '?'
      }: ${typeName(member.type, !given)};\n`,
  );
  const head = `export interface ${name}${parent ? ` extends ${parent}` : ''}`;
  return `${note({ from }, '')}${head} {\n${lines.join('')}}\n`;
};

const parametersOf = ({ parameters }) =>
  parameters
    .map(({ name, optional, type }) => `${name}${optional ? '?' : ''}: ${typeName(type, false)}`)
    .join(', ');

const classOf = (definition) => {
  const { name, members } = definition;
  const constructor = members.find(({ kind }) => kind === 'constructor');
  const lines = [
    constructor ? `  constructor(${parametersOf(constructor)});\n` : '  private constructor();\n',
  ];
  for (const member of members.filter(({ kind }) => kind === 'attribute'))
    lines.push(`${note(member, '  ')}  readonly ${member.name}: ${typeName(member.type, true)};\n`);
  for (const [own, overloads] of operationsOf(definition))
    for (const each of overloads)
      lines.push(
        `${note(each, '  ')}  ${own}(${parametersOf(each)}): ${typeName(each.type, true)};\n`,
      );
  const end = ['destroy', 'release'].find((own) => operationsOf(definition).has(own));
  if (end)
    lines.push(
      `  /** An extension: \`${end}()\`, for \`using\`. */\n  [Symbol.dispose](): void;\n`,
    );
  return `export class ${name} {\n${lines.join('')}}\n`;
};

const globalOf = (name) =>
  `  var ${name}: typeof webnn.${name};\n  type ${name} = webnn.${name};\n`;

const head = '// Made by generate.mjs from idl/: do not edit.\n';

export const typesOf = ({ enums, dictionaries, interfaces, typedefs }) => ({
  module: `/// <reference lib="esnext.disposable" />
${head}
export type AllowSharedBufferSource = ArrayBuffer | SharedArrayBuffer | ArrayBufferView;
${typedefs
  .filter(({ type }) => type.kind !== 'sequence')
  .map(({ name, type }) => `export type ${name} = ${typeName(type, false)};\n`)
  .join('')}
${enums
  .map(
    ({ name, words }) => `export type ${name} = ${words.map((word) => `'${word}'`).join(' | ')};\n`,
  )
  .join('')}
${dictionaries.map(dictionaryOf).join('\n')}
${interfaces.map(classOf).join('\n')}
/** The entry point of WebNN: a browser's \`navigator.ml\`. */
export const ml: ML;
/** An extension: \`ml.loadOnnx\`. */
export const loadOnnx: ML['loadOnnx'];
/** The names of what this package adds to WebNN. */
export const extensions: readonly string[];

/** More about an error of this package; its \`cause\` is the error that led to it. */
export interface MLErrorDetails {
  kind: string;
  operation: string;
  label: string;
  object: string;
  ticket: number;
  ran: boolean;
}
`,
  global: `${head}
import * as webnn from 'webnn';

declare global {
  interface Navigator { readonly ml: webnn.ML; }
${interfaces.map(({ name }) => globalOf(name)).join('')}}
export {};
`,
});
