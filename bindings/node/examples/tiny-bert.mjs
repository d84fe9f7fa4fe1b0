// A BERT of two layers with random weights, in the layout of transformers.js: makeTinyBert(FOLDER).
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import proto from 'onnx-proto';

const { onnx } = proto;
const words = [
  '[PAD]',
  '[UNK]',
  '[CLS]',
  '[SEP]',
  '[MASK]',
  'code',
  'for',
  'the',
  'browser',
  'runs',
  'on',
  'servers',
];
const sizes = { hidden: 16, heads: 2, layers: 2, positions: 32, inner: 32 };
const { FLOAT, INT64 } = onnx.TensorProto.DataType;

/** A model under construction: nodes and weights by name. */
class Model {
  nodes = [];
  weights = [];
  state = 7;

  weight(name, dims, make = () => this.random()) {
    const data = Array.from({ length: dims.reduce((a, b) => a * b, 1) }, make);
    this.weights.push(onnx.TensorProto.create({ name, dims, dataType: FLOAT, floatData: data }));
    return name;
  }
  ints(name, values) {
    this.weights.push(
      onnx.TensorProto.create({ name, dims: [values.length], dataType: INT64, int64Data: values }),
    );
    return name;
  }
  random() {
    this.state = (this.state * 48271) % 2147483647;
    return this.state / 2147483647 - 0.5;
  }
  op(opType, input, output, attribute = []) {
    this.nodes.push(
      onnx.NodeProto.create({ opType, input, output: [output], name: output, attribute }),
    );
    return output;
  }
  linear(x, name, from, to) {
    const product = this.op('MatMul', [x, this.weight(`${name}.w`, [from, to])], `${name}.product`);
    return this.op('Add', [product, this.weight(`${name}.b`, [to])], `${name}.sum`);
  }
  normalize(x, name, size) {
    return this.op(
      'LayerNormalization',
      [
        x,
        this.weight(`${name}.scale`, [size], () => 1),
        this.weight(`${name}.bias`, [size], () => 0),
      ],
      name,
      [int('axis', -1)],
    );
  }
}
const { INT, INTS } = onnx.AttributeProto.AttributeType;
const int = (name, i) => onnx.AttributeProto.create({ name, i, type: INT });
const ints = (name, values) => onnx.AttributeProto.create({ name, ints: values, type: INTS });

const attention = (model, x, mask, name) => {
  const { hidden, heads } = sizes;
  const split = (part, perm) =>
    model.op(
      'Transpose',
      [
        model.op(
          'Reshape',
          [model.linear(x, `${name}.${part}`, hidden, hidden), 'split'],
          `${name}.${part}.heads`,
        ),
      ],
      `${name}.${part}.t`,
      [ints('perm', perm)],
    );
  const scores = model.op(
    'MatMul',
    [split('q', [0, 2, 1, 3]), split('k', [0, 2, 3, 1])],
    `${name}.scores`,
  );
  const scaled = model.op(
    'Mul',
    [scores, model.weight(`${name}.scale`, [1], () => Math.sqrt(heads / hidden))],
    `${name}.scaled`,
  );
  const weights = model.op(
    'Softmax',
    [model.op('Add', [scaled, mask], `${name}.masked`)],
    `${name}.weights`,
    [int('axis', -1)],
  );
  const joined = model.op(
    'Transpose',
    [model.op('MatMul', [weights, split('v', [0, 2, 1, 3])], `${name}.mixed`)],
    `${name}.back`,
    [ints('perm', [0, 2, 1, 3])],
  );
  return model.linear(
    model.op('Reshape', [joined, 'join'], `${name}.joined`),
    `${name}.out`,
    hidden,
    hidden,
  );
};

const bert = () => {
  const { hidden, heads, layers, positions, inner } = sizes;
  const model = new Model();
  model.ints('split', [0, 0, heads, hidden / heads]);
  model.ints('join', [0, 0, hidden]);
  model.ints('axes', [1, 2]);
  const embed = (table, rows, ids, name) =>
    model.op('Gather', [model.weight(table, [rows, hidden]), ids], name, [int('axis', 0)]);
  const tokens = model.op(
    'Add',
    [
      embed('words', words.length, 'input_ids', 'word'),
      embed('types', 2, 'token_type_ids', 'type'),
    ],
    'tokens',
  );
  let x = model.normalize(tokens, 'embedded', hidden);
  const seen = model.op(
    'Cast',
    [model.op('Unsqueeze', ['attention_mask', 'axes'], 'mask.4d')],
    'mask.float',
    [int('to', FLOAT)],
  );
  const hiddenMask = model.op('Sub', [seen, model.weight('one', [1], () => 1)], 'mask.minus');
  const mask = model.op('Mul', [hiddenMask, model.weight('far', [1], () => 10000)], 'mask');
  for (let i = 0; i < layers; ++i) {
    x = model.normalize(
      model.op('Add', [x, attention(model, x, mask, `a${i}`)], `r${i}`),
      `n${i}`,
      hidden,
    );
    const wide = model.op('Gelu', [model.linear(x, `f${i}`, hidden, inner)], `g${i}`);
    x = model.normalize(
      model.op('Add', [x, model.linear(wide, `h${i}`, inner, hidden)], `s${i}`),
      `m${i}`,
      hidden,
    );
  }
  model.op('Identity', [x], 'last_hidden_state');
  return { model, positions };
};

const value = (name, elemType, dims) =>
  onnx.ValueInfoProto.create({
    name,
    type: {
      tensorType: {
        elemType,
        shape: {
          dim: dims.map((dim) => (typeof dim === 'string' ? { dimParam: dim } : { dimValue: dim })),
        },
      },
    },
  });

export const makeTinyBert = (folder) => {
  mkdirSync(join(folder, 'onnx'), { recursive: true });
  const { model, positions } = bert();
  const free = ['batch_size', 'sequence_length'];
  const bytes = onnx.ModelProto.encode(
    onnx.ModelProto.create({
      irVersion: 9,
      opsetImport: [{ domain: '', version: 20 }],
      graph: {
        name: 'tiny bert',
        node: model.nodes,
        initializer: model.weights,
        input: ['input_ids', 'attention_mask', 'token_type_ids'].map((name) =>
          value(name, INT64, free),
        ),
        output: [value('last_hidden_state', FLOAT, [...free, sizes.hidden])],
      },
    }),
  ).finish();
  const json = (name, content) => writeFileSync(join(folder, name), JSON.stringify(content));
  writeFileSync(join(folder, 'onnx', 'model.onnx'), bytes);
  json('config.json', {
    model_type: 'bert',
    architectures: ['BertModel'],
    hidden_size: sizes.hidden,
    num_attention_heads: sizes.heads,
    num_hidden_layers: sizes.layers,
    vocab_size: words.length,
    max_position_embeddings: positions,
    intermediate_size: sizes.inner,
  });
  json('tokenizer_config.json', {
    tokenizer_class: 'BertTokenizer',
    do_lower_case: true,
    model_max_length: positions,
    unk_token: '[UNK]',
    sep_token: '[SEP]',
    pad_token: '[PAD]',
    cls_token: '[CLS]',
    mask_token: '[MASK]',
  });
  json('tokenizer.json', {
    version: '1.0',
    truncation: null,
    padding: null,
    added_tokens: words
      .slice(0, 5)
      .map((content, id) => ({
        id,
        content,
        special: true,
        single_word: false,
        lstrip: false,
        rstrip: false,
        normalized: false,
      })),
    normalizer: {
      type: 'BertNormalizer',
      clean_text: true,
      handle_chinese_chars: true,
      strip_accents: null,
      lowercase: true,
    },
    pre_tokenizer: { type: 'BertPreTokenizer' },
    post_processor: {
      type: 'TemplateProcessing',
      single: [
        { SpecialToken: { id: '[CLS]', type_id: 0 } },
        { Sequence: { id: 'A', type_id: 0 } },
        { SpecialToken: { id: '[SEP]', type_id: 0 } },
      ],
      pair: [],
      special_tokens: {
        '[CLS]': { id: '[CLS]', ids: [2], tokens: ['[CLS]'] },
        '[SEP]': { id: '[SEP]', ids: [3], tokens: ['[SEP]'] },
      },
    },
    decoder: { type: 'WordPiece', prefix: '##', cleanup: true },
    model: {
      type: 'WordPiece',
      unk_token: '[UNK]',
      continuing_subword_prefix: '##',
      max_input_chars_per_word: 100,
      vocab: Object.fromEntries(words.map((word, id) => [word, id])),
    },
  });
};
