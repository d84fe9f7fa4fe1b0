// The interfaces in JavaScript. A method checks `this`, picks an overload, converts its arguments
// and calls the implementation's method of the same name.
import { operationsOf } from './model.mjs';

const quoted = (text) => `'${text}'`;

/** The implementation's names for overloads, by interface, operation and types of parameters. */
const overloadNames = {
  'ML.createContext(GPUDevice)': 'createContextOfDevice',
  'MLContext.readTensor(MLTensor, buffer)': 'readTensorInto',
  'MLGraphBuilder.constant(MLOperandDataType, bigint or double)': 'scalar',
  'MLGraphBuilder.constant(MLTensor)': 'constantTensor',
};

// -- conversions ---------------------------------------------------------------------------------

const primitives = {
  boolean: 'idl.boolean',
  double: 'idl.double',
  'unrestricted double': 'idl.unrestrictedDouble',
  float: 'idl.float',
  DOMString: 'idl.DOMString',
  USVString: 'idl.USVString',
  'bigint or double': 'idl.bigintOrDouble',
};
const integers = {
  long: 'idl.long',
  'unsigned long': 'idl.unsignedLong',
  'unsigned long long': 'idl.unsignedLongLong',
};

/** Conversions of sequences and records, made once: expression by name. */
const compound = new Map();
const named = (name, expression) => {
  compound.set(name, expression);
  return name;
};
const nameOf = (type) =>
  [
    type.name ?? type.kind,
    type.enforce ? 'enforced' : '',
    ['buffer or', 'number or sequence'].includes(type.kind) ? nameOf(type.of) : '',
  ]
    .join(' ')
    .replace(/(?:^|\W+)(\w)/g, (_, letter) => letter.toUpperCase())
    .trim();

/** The conversion of a type, as an expression. */
const conversion = (type) => {
  switch (type.kind) {
    case 'primitive':
      return (
        primitives[type.name] ?? `${integers[type.name]}.${type.enforce ? 'enforced' : 'wrapped'}`
      );
    case 'enum':
    case 'dictionary':
      return `to${type.name}`;
    case 'interface':
      if (type.name === 'GPUDevice') return 'idl.any';
      return type.name === 'AbortSignal' ? 'idl.abortSignal' : `as${type.name}`;
    case 'sequence':
      return named(`toSequenceOf${nameOf(type.of)}`, `idl.sequence(${conversion(type.of)})`);
    case 'record':
      return named(
        `toRecordOf${nameOf(type.of)}`,
        `idl.record(idl.USVString, ${conversion(type.of)})`,
      );
    case 'number or sequence':
      return named(
        `to${nameOf(type.of)}OrSequence`,
        `idl.orSequence(${conversion(type.of)}, ${conversion(type.of)})`,
      );
    case 'buffer or':
      // Called late, as conversions of dictionaries are defined after these.
      return named(
        `toBufferOr${nameOf(type.of)}`,
        `idl.bufferOr((...given) => ${conversion(type.of)}(...given))`,
      );
    case 'dimension':
      return named('toDimension', `idl.dimension((...given) => ${conversion(type.of)}(...given))`);
    case 'buffer':
      return 'idl.bufferSource';
    default:
      throw new Error(`no conversion to ${JSON.stringify(type)}`);
  }
};

const fallbackOf = ({ fallback }) => {
  if (!fallback) return undefined;
  if (fallback.type === 'number') return fallback.value;
  if (fallback.type === 'string') return quoted(fallback.value);
  if (fallback.type === 'boolean') return String(fallback.value);
  throw new Error(`unknown default: ${JSON.stringify(fallback)}`);
};

const dictionaryOf = ({ name, parent, members }) => {
  // Web IDL converts members in the order of their names.
  const lines = members
    .toSorted((a, b) => (a.name < b.name ? -1 : 1))
    .map((member) => {
      const fallback = fallbackOf(member);
      const how = [
        member.required ? 'required: true' : '',
        fallback ? `fallback: () => ${fallback}` : '',
      ]
        .filter(Boolean)
        .join(', ');
      return `  [${quoted(member.name)}, ${conversion(member.type)}, {${how && ` ${how} `}}],\n`;
    });
  return (
    `const to${name} = idl.dictionary('${name}', ${parent ? `to${parent}` : 'undefined'}, [\n` +
    `${lines.join('')}]);\n`
  );
};

// -- results -------------------------------------------------------------------------------------

/** The dictionaries whose members the implementation's value may exceed. */
const filtered = new Set();

/** An expression that turns the implementation's `value` into a JavaScript one. */
const wrapped = (type, value) => {
  if (type.kind === 'promise') {
    const inner = wrapped(type.of, 'value');
    return inner === 'value' ? value : `idl.after(${value}, (value) => ${inner})`;
  }
  if (type.kind === 'interface') return `make(${type.name}, ${value})`;
  if (type.kind === 'sequence' && type.of.kind === 'interface')
    return `${value}.map((each) => ${wrapped(type.of, 'each')})`;
  if (type.kind === 'dictionary') {
    filtered.add(type.name);
    return `only(membersOf.${type.name}, ${value})`;
  }
  return value;
};

/** The body of one overload: conversions, then the call. */
const bodyOf = (owner, { name, type, parameters }, names, what) => {
  const lines = parameters.map((parameter, i) => {
    const words = `'argument ${i + 1} of ${what}'`;
    const converted = `${conversion(parameter.type)}(${names[i]}, ${words})`;
    const absent = parameter.optional && parameter.type.kind !== 'dictionary';
    const value = absent ? `${names[i]} === undefined ? undefined : ${converted}` : converted;
    return `const $${parameter.name} = ${value};`;
  });
  const key = `${owner}.${name}(${parameters.map((p) => p.type.name ?? p.type.kind).join(', ')})`;
  if (isOperator(owner, name, type)) lines.push(...operatorOf(name, type, parameters));
  else {
    const given = parameters.map((p) => `$${p.name}`).join(', ');
    const call = `self.${overloadNames[key] ?? name}(${given})`;
    lines.push(
      type.kind === 'undefined' ? `${call};\nreturn undefined;` : `return ${wrapped(type, call)};`,
    );
  }
  return lines.join('\n');
};

const isOperator = (owner, name, type) =>
  owner === 'MLGraphBuilder' && !ownMethods.includes(name) && type.kind !== 'promise';
const ownMethods = ['input', 'dynamicInput', 'constant', 'dynamicReshape'];

const operatorOptions = new Set();

/** An operator: operands in IDL's order, those of its options last; all else are attributes. */
const operatorOf = (name, type, parameters) => {
  const operands = [];
  const attributes = [];
  for (const { name: own, type: given } of parameters) {
    if (given.kind === 'interface') operands.push(`$${own}`);
    else if (given.kind === 'sequence' && given.of.kind === 'interface')
      operands.push(`...$${own}`);
    else if (given.kind === 'dictionary') {
      operatorOptions.add(given.name);
      operands.push(`...operandsOf.${given.name}($${own})`);
    } else attributes.push(`$options.${own} = $${own};`);
  }
  const call = `self.operator('${name}', [${operands.join(', ')}], $options)`;
  return [
    ...attributes,
    type.kind === 'sequence'
      ? `return ${wrapped(type, call)};`
      : `return ${wrapped(type, `${call}[0]`)};`,
  ];
};

// -- overloads -----------------------------------------------------------------------------------

/** A test for Web IDL's overload resolution, or undefined for the types that take what is left. */
const testOf = (type, value) => {
  if (type.kind === 'interface')
    return type.name === 'GPUDevice'
      ? `isGPUDevice(${value})`
      : `of${type.name}(${value}) !== undefined`;
  if (type.kind === 'buffer') return `idl.isBufferSource(${value})`;
  if (type.kind === 'dictionary')
    return `(${value} === undefined || ${value} === null || idl.isObject(${value}))`;
  return undefined;
};
const order = ['interface', 'buffer', 'dictionary'];
const rank = (type) => (order.indexOf(type.kind) + order.length + 1) % (order.length + 1);
const takes = ({ parameters }, count) =>
  count <= parameters.length && count >= parameters.filter(({ optional }) => !optional).length;

const dispatchOf = (owner, overloads, names, what) => {
  if (overloads.length === 1) return bodyOf(owner, overloads[0], names, what);
  const longest = Math.max(...overloads.map(({ parameters }) => parameters.length));
  const least = Math.min(
    ...overloads.map(({ parameters }) => parameters.filter(({ optional }) => !optional).length),
  );
  const cases = [];
  for (let count = least; count <= longest; ++count) {
    const fitting = overloads.filter((overload) => takes(overload, count));
    const at = fitting[0].parameters.findIndex(
      (_, i) =>
        new Set(fitting.map(({ parameters }) => parameters[i]?.type.kind)).size === fitting.length,
    );
    const branches = fitting
      .toSorted((a, b) => rank(a.parameters[at].type) - rank(b.parameters[at].type))
      .map((overload, i, all) => {
        const body = bodyOf(owner, overload, names, what);
        const test = i + 1 < all.length && testOf(overload.parameters[at].type, names[at]);
        return test ? `if (${test}) {\n${indent(body)}\n}` : body;
      })
      .join('\n');
    cases.push(
      count < longest ? `if (arguments.length <= ${count}) {\n${indent(branches)}\n}` : branches,
    );
  }
  return cases.join('\n');
};

// -- classes -------------------------------------------------------------------------------------

const indent = (text, by = 2) => text.replace(/^(?=.)/gm, ' '.repeat(by));

const methodOf = (owner, name, overloads) => {
  const what = `${owner}.${name}`;
  const required = Math.min(
    ...overloads.map(({ parameters }) => parameters.filter(({ optional }) => !optional).length),
  );
  const longest = overloads.toSorted((a, b) => b.parameters.length - a.parameters.length)[0];
  const names = longest.parameters.map((p, i) =>
    overloads.length === 1 ? p.name : `argument${i + 1}`,
  );
  const list = names.map((each, i) => (i < required ? each : `${each} = undefined`)).join(', ');
  const body =
    `const self = as${owner}(this, '${what}: this');\n` +
    (required ? `idl.atLeast(arguments.length, ${required}, '${what}');\n` : '') +
    dispatchOf(owner, overloads, names, what);
  const promise = overloads[0].type.kind === 'promise';
  return `${name}(${list}) {\n${indent(promise ? rejecting(body) : body)}\n}\n`;
};
const rejecting = (body) =>
  `try {\n${indent(body)}\n} catch (error) {\n  return idl.reject(error);\n}`;

const attributeOf = (owner, { name, type }) => {
  const body = `return as${owner}(this, '${owner}.${name}: this').${name};`;
  return `get ${name}() {\n${indent(type.kind === 'promise' ? rejecting(body) : body)}\n}\n`;
};

const constructorOf = (owner, constructor) => {
  if (!constructor)
    return `constructor() {
  if (pending === undefined) throw new TypeError('Illegal constructor');
  const self = pending;
  pending = undefined;
  return idl.platformObject(this, Own${owner}, self);
}
`;
  const names = constructor.parameters.map(({ name }) => name);
  const converted = constructor.parameters.map(
    ({ type }, i) => `${conversion(type)}(${names[i]}, 'argument ${i + 1} of ${owner}')`,
  );
  return `constructor(${names.join(', ')}) {
  idl.atLeast(arguments.length, ${names.length}, '${owner}');
  const self = new implementation.${owner}(${converted.join(', ')});
  return idl.platformObject(this, Own${owner}, self);
}
`;
};

const classOf = (definition) => {
  const { name: owner, members } = definition;
  const operations = operationsOf(definition);
  const attributes = members.filter(({ kind }) => kind === 'attribute');
  const parts = [
    constructorOf(
      owner,
      members.find(({ kind }) => kind === 'constructor'),
    ),
    ...attributes.map((attribute) => attributeOf(owner, attribute)),
    ...[...operations].map(([name, overloads]) => methodOf(owner, name, overloads)),
  ];
  const all = [...attributes.map(({ name }) => name), ...operations.keys()];
  const shown = attributes.filter(({ type }) => type.kind !== 'promise').map(({ name }) => name);
  return `const Own${owner} = idl.brand('${owner}');
const of${owner} = Own${owner}.of;
const as${owner} = (value, what) => of${owner}(value) ?? idl.failOfType(what, '${owner}', value);

export class ${owner} {
${indent(parts.join('\n'))}}
idl.finish(${owner}, of${owner}, [${all.map(quoted).join(', ')}], [${shown.map(quoted).join(', ')}]);
`;
};

export const interfacesOf = ({ enums, dictionaries, interfaces }) => {
  const taken = dictionaries.filter(({ given }) => given);
  const base = (name) => dictionaries.find((each) => each.name === name);
  const depth = ({ parent }) => (parent ? 1 + depth(base(parent)) : 0);
  const classes = interfaces.map(classOf).join('\n');
  const conversions = taken
    .toSorted((a, b) => depth(a) - depth(b))
    .map(dictionaryOf)
    .join('');
  return `// Made by generate.mjs from idl/: do not edit.
import * as implementation from '../lib/implementation.js';
import * as idl from '../lib/webidl.js';

const { Object, TypeError } = globalThis;

/** The implementation of an object under construction; otherwise only users would construct it. */
let pending;
export const make = (Class, self) => {
  pending = self;
  return new Class();
};
/** A dictionary that the implementation returns. */
const only = (members, value) => {
  const result = {};
  for (const member of members) if (value[member] !== undefined) result[member] = value[member];
  return result;
};
const isGPUDevice = (value) =>
  typeof globalThis.GPUDevice === 'function' && value instanceof globalThis.GPUDevice;

${enums
  .map(
    ({ name, words }) =>
      `const to${name} = idl.enumeration('${name}', [${words.map(quoted).join(', ')}]);\n`,
  )
  .join('')}
${classes}
${[...compound].map(([name, expression]) => `const ${name} = ${expression};\n`).join('')}
${conversions}
/** The operands among an operator's options, in IDL's order. */
const operandsOf = {
${taken
  .filter(({ name }) => operatorOptions.has(name))
  .map(
    ({ name, members }) =>
      `  ${name}: (options) => [${members
        .filter(({ type }) => type.kind === 'interface')
        .map((each) => `options.${each.name}`)
        .join(', ')}],\n`,
  )
  .join('')}};
const membersOf = {
${dictionaries
  .filter(({ name }) => filtered.has(name))
  .map(
    ({ name, members }) => `  ${name}: [${members.map((each) => quoted(each.name)).join(', ')}],\n`,
  )
  .join('')}};
`;
};
