// The IDL files as one model: partial definitions merged, types simplified.

/** Interfaces of others. */
export const foreign = ['AbortSignal', 'GPUDevice'];

/**
 * A type: {kind, ...} where kind is 'primitive' (name, enforce), 'enum', 'dictionary', 'interface'
 * (name), 'sequence', 'frozen', 'promise' (of), 'record' (of), 'buffer', 'number or sequence' (of),
 * 'buffer or' (of), 'dimension' (of, all), 'any' or 'undefined'; only in results 'view', 'nullable' (of) and 'union' (all).
 */
const typeOf = (type, definitions, attributes = [], nullable = type.nullable) => {
  if (nullable) return { kind: 'nullable', of: typeOf(type, definitions, attributes, false) };
  const enforce = [...attributes, ...type.extAttrs].some(({ name }) => name === 'EnforceRange');
  const inner = () => typeOf(type.idlType.at(-1), definitions);
  if (type.union) return unionOf(type, definitions);
  if (type.generic === 'sequence') return { kind: 'sequence', of: inner() };
  if (type.generic === 'FrozenArray') return { kind: 'frozen', of: inner() };
  if (type.generic === 'Promise') return { kind: 'promise', of: inner() };
  if (type.generic === 'record') return { kind: 'record', of: inner() };
  const name = type.idlType;
  if (name === 'AllowSharedBufferSource') return { kind: 'buffer' };
  if (name === 'ArrayBuffer') return { kind: 'array buffer' };
  if (name === 'ArrayBufferView') return { kind: 'view' };
  if (name === 'any' || name === 'undefined') return { kind: name };
  const known = definitions.get(name);
  if (known?.type === 'typedef') return typeOf(known.idlType, definitions);
  if (known?.type === 'enum') return { kind: 'enum', name };
  if (known?.type === 'dictionary') return { kind: 'dictionary', name };
  if (known?.type === 'interface' || foreign.includes(name)) return { kind: 'interface', name };
  return { kind: 'primitive', name, enforce };
};

const unionOf = (type, definitions) => {
  const all = type.idlType.map((each) => typeOf(each, definitions));
  const [first, second] = all;
  if (first.name === 'bigint') return { kind: 'primitive', name: 'bigint or double' };
  if (second.kind === 'sequence') return { kind: 'number or sequence', of: first };
  if (first.kind === 'buffer') return { kind: 'buffer or', of: second };
  if (all.at(-1).kind === 'dictionary') return { kind: 'dimension', of: all.at(-1), all };
  return { kind: 'union', all };
};

const memberOf = (member, definitions, from) => ({
  name: member.name ?? '',
  from,
  kind: member.type,
  type: member.idlType && typeOf(member.idlType, definitions, member.extAttrs),
  required: member.required,
  fallback: member.default,
  parameters: member.arguments?.map((argument) => ({
    name: argument.name,
    optional: argument.optional,
    type: typeOf(argument.idlType, definitions, argument.extAttrs),
  })),
});

/** The names of dictionaries that a parameter takes, or that are part of such a one. */
const givenOf = (dictionaries, interfaces) => {
  const names = new Set();
  const visit = (type) => {
    if (type.of) visit(type.of);
    if (type.kind !== 'dictionary' || names.has(type.name)) return;
    names.add(type.name);
    const { parent, members } = dictionaries.find(({ name }) => name === type.name);
    if (parent) visit({ kind: 'dictionary', name: parent });
    for (const member of members) visit(member.type);
  };
  for (const { members } of interfaces)
    for (const { parameters = [] } of members) for (const { type } of parameters) visit(type);
  return names;
};

export const modelOf = (nodes) => {
  const definitions = new Map();
  for (const { node } of nodes) if (!node.partial && node.name) definitions.set(node.name, node);
  const merged = (kind) => {
    const result = new Map();
    for (const { node, from } of nodes.filter(({ node }) => node.type === kind)) {
      const known = result.get(node.name) ?? {
        name: node.name,
        from,
        parent: node.inheritance,
        members: [],
      };
      known.members.push(...node.members.map((member) => memberOf(member, definitions, from)));
      result.set(node.name, known);
    }
    return [...result.values()];
  };
  const dictionaries = merged('dictionary');
  const interfaces = merged('interface');
  const given = givenOf(dictionaries, interfaces);
  return {
    enums: nodes
      .filter(({ node }) => node.type === 'enum')
      .map(({ node, from }) => ({
        name: node.name,
        from,
        words: node.values.map(({ value }) => value),
      })),
    /** Those that are not `given` are results. */
    dictionaries: dictionaries.map((each) => ({ ...each, given: given.has(each.name) })),
    interfaces,
    typedefs: nodes
      .filter(({ node }) => node.type === 'typedef')
      .map(({ node }) => ({ name: node.name, type: typeOf(node.idlType, definitions) })),
  };
};

/** Operations of an interface by name, each with its overloads. */
export const operationsOf = ({ members }) => {
  const result = new Map();
  for (const member of members.filter(({ kind }) => kind === 'operation'))
    result.set(member.name, [...(result.get(member.name) ?? []), member]);
  return result;
};
