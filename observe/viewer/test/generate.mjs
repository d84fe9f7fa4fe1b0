// Traces as the runtime would record them: callers that submit, contexts that stamp, lanes that
// carry out, tensors that hear of errors; and runs of the stress tool. A seed decides everything.
import { Maker, random } from "./maker.mjs";

export { Maker, pack, random } from "./maker.mjs";

const kernels = [
  "conv2d",
  "gemm",
  "relu",
  "add",
  "softmax",
  "pool",
  "reshape",
  "sigmoid",
  "matmul",
];
const engines = ["onednn jit", "onednn gemm", "eigen", "direct", "reference"];

/**
 * A server's trace of about `events` events. `errors`: how many dispatches fail at their root;
 * `tensors`: short-lived tensor actors on top of the few that stay.
 */
export function serverTrace({ seed = 1, events = 400, errors = 0, tensors = 8 } = {}) {
  const dice = random(seed);
  const maker = new Maker(`server-${events}.trace`);
  const contexts = ["vision", "text"].map((label) => {
    const id = maker.context(label);
    const own = (kind, name, band, more) => maker.actor(kind, name, band, id, more);
    return {
      id,
      label,
      ticket: 0,
      actor: own("context", label, "content"),
      compiler: own("compiler", "", "content"),
      graph: own("graph", label === "vision" ? "resnet" : "encoder", "content"),
      tensors: [],
      lanes: [0, 1].map((lane) => ({ actor: own("device", "", "device", { lane }), free: 0 })),
      free: 0,
      depth: [],
    };
  });
  for (const context of contexts)
    for (let i = 0; i < tensors; ++i) {
      const label = `${dice.pick(["input", "hidden", "logits", "mask", "scores"])}_${i}`;
      const short = i >= 8;
      const start = short ? Math.floor((i * events * 700) / tensors) : 0;
      const end = short ? start + events * 700 * 0.01 : -1;
      const actor = maker.actor("tensor", label, "content", context.id, { start, end });
      context.tensors.push({ actor, label, failed: null, start, end });
    }
  const callers = ["http-1", "http-2", "batch"].map((label) => ({
    label,
    actor: maker.actor("caller", label, "callers", -1),
    free: 0,
  }));
  const bytes = contexts.map(() => ({ time: [], value: [] }));

  let number = 0;
  let failAt = errors > 0 ? 6 : Infinity;
  while (maker.events.length < events) {
    const caller = callers.reduce((a, b) => (a.free <= b.free ? a : b));
    const context = dice.pick(contexts);
    request(caller, context, ++number);
  }
  contexts.forEach((context, i) => {
    const points = context.depth.sort((a, b) => a.time - b.time);
    let depth = 0;
    const values = points.map((point) => (depth += point.change));
    maker.page.counters.push({
      name: `operations in flight`,
      unit: "",
      context: context.id,
      time: points.map((point) => point.time),
      value: values,
    });
    const order = bytes[i].time
      .map((_, k) => k)
      .sort((a, b) => bytes[i].time[a] - bytes[i].time[b]);
    maker.page.counters.push({
      name: `memory`,
      unit: "bytes",
      context: context.id,
      time: order.map((k) => bytes[i].time[k]),
      value: order.map((k) => bytes[i].value[k]),
    });
  });
  const steps = maker.events.filter(({ kind }) => kind !== 2 && kind !== 3);
  maker.schedule = { events: steps.sort((a, b) => a.begin - b.begin), verdict: "" };
  return maker.finish();

  function request(caller, context, n) {
    const begin = caller.free + dice.between(2_000, 60_000);
    const live = context.tensors.filter(
      (one) => one.end < 0 || (one.start <= begin && begin < one.end),
    );
    const input = dice.pick(live);
    const output = dice.pick(live.filter((one) => one !== input));
    const lane = dice.pick(context.lanes);
    const write = operation(caller, context, lane, "write", `in ${n}`, begin, null, input);
    const label = `${dice.pick(["detect", "embed", "rank", "encode"])} ${n}`;
    const run = operation(caller, context, lane, "dispatch", label, caller.free, input, output);
    const read = operation(caller, context, lane, "read", `out ${n}`, caller.free, output, null);
    if (n === 3) maker.lint(`tensor '${input.label}' was written and not read for 2 ms`, write);
    if (n === 4) maker.lint("actor 'vision' kept a worker for 64 messages", run);
    caller.free = Math.max(caller.free, read.begin + read.duration) + dice.between(500, 5_000);
  }

  function operation(caller, context, lane, name, label, at, input, output) {
    const ticket = ++context.ticket;
    const object = name === "dispatch" ? "graph" : `tensor '${(output ?? input).label}'`;
    const common = { name, label, object, ticket };
    const call = maker.event({
      kind: 0,
      actor: caller.actor,
      begin: at,
      duration: dice.between(800, 2_500),
      detail: input && output ? `${input.label} -> ${output.label}` : "",
      ...common,
    });
    caller.free = at + call.duration + dice.between(100, 900);
    const heard = Math.max(context.free, at + dice.between(600, 3_000));
    const handling = maker.event({
      kind: 1,
      actor: context.actor,
      begin: heard,
      duration: dice.between(400, 1_500),
      cause: call,
      ...common,
    });
    context.free = heard + handling.duration + dice.between(50, 200);
    maker.message(call, handling, caller.actor, context.actor, at + 300, heard, "submit", ticket);
    const sent = heard + 250;
    const ready = sent + dice.between(500, 2_000);
    const start = Math.max(lane.free, ready);
    const last = lane.last;
    const failing = name === "dispatch" && --failAt === 0 && errors-- > 0;
    if (failing) failAt = errors > 0 ? 30 : Infinity;
    const upstream = input?.failed ?? null;
    const state = failing ? 1 : upstream ? 2 : 0;
    const carried = maker.event({
      kind: 1,
      actor: lane.actor,
      begin: start,
      duration: 0,
      cause: handling,
      ...common,
    });
    maker.message(handling, carried, context.actor, lane.actor, sent, start, name, ticket);
    const opened = start + 120;
    const op = maker.event({
      kind: 2,
      actor: lane.actor,
      begin: opened,
      cause: carried,
      ...common,
      state,
    });
    let now = opened + 150;
    const steps = name === "dispatch" && state !== 2 ? dice.between(3, 12) : 0;
    for (let i = 0; i < (failing ? Math.ceil(steps / 2) : steps); ++i) {
      const duration = dice.between(900, 14_000);
      const kernel = dice.pick(kernels);
      maker.event({
        kind: 3,
        actor: lane.actor,
        begin: now,
        duration,
        name: kernel,
        label: `${kernel}_${i}`,
        detail: dice.pick(engines),
        ticket,
        cause: op,
        state: failing && i === Math.ceil(steps / 2) - 1 ? 1 : 0,
      });
      now += duration + dice.between(50, 300);
    }
    if (name !== "dispatch") now += state === 2 ? 200 : dice.between(1_500, 9_000);
    op.duration = now - opened;
    carried.duration = now + 200 - start;
    lane.free = start + carried.duration + dice.between(100, 400);
    lane.last = op;
    context.depth.push({ time: at, change: 1 }, { time: now, change: -1 });
    const memory = bytes[contexts.indexOf(context)];
    memory.time.push(now);
    memory.value.push((64 << 20) | dice.below(1 << 24));
    if (last && start - ready > 1_000)
      maker.wait({
        actor: lane.actor,
        begin: ready,
        end: start,
        ticket,
        text: `${name} '${label}' waits for ${last.name} '${last.label}'`,
        event: op,
        on: last,
      });
    if (state !== 0) {
      const root =
        "operator 'conv_3': out of memory,\n512 MiB asked, 40 MiB left of the context's 1 GiB";
      const own = failing
        ? `dispatch '${label}' (ticket ${ticket}) failed: ${root}`
        : `${name} '${label}' (ticket ${ticket}) not run: input '${input.label}' ` +
          `errored by\n${upstream.error}`;
      const failure = maker.event({
        kind: 5,
        actor: lane.actor,
        begin: now,
        error: own,
        cause: upstream ?? op,
        ...common,
      });
      op.error = own;
      settle(context, lane, output, op, now, ticket, failure);
    } else {
      settle(context, lane, output, op, now, ticket, null);
    }
    if (name === "read") {
      const back = now + dice.between(500, 2_500);
      const reply = maker.event({
        kind: 1,
        actor: input.actor,
        begin: back,
        duration: dice.between(300, 900),
        cause: op,
        error: op.error,
        ...common,
        name: state === 0 ? "answer" : "reject",
      });
      maker.message(op, reply, lane.actor, input.actor, now - 50, back, "outcome", ticket);
    }
    return op;
  }

  // An outcome is told only when the state of a tensor changes.
  function settle(context, lane, tensor, op, at, ticket, failure) {
    if (!tensor || tensor.failed === failure) return;
    const changed = (tensor.failed === null) !== (failure === null);
    tensor.failed = failure;
    if (!changed && tensor.told) return;
    tensor.told = true;
    const heard = at + dice.between(400, 2_000);
    const told = maker.event({
      kind: 1,
      actor: tensor.actor,
      begin: heard,
      duration: dice.between(300, 700),
      name: "outcome",
      object: `tensor '${tensor.label}'`,
      ticket,
      cause: op,
      error: failure ? op.error : "",
    });
    maker.message(op, told, lane.actor, tensor.actor, at - 60, heard, "outcome", ticket);
    maker.event({
      kind: 4,
      actor: tensor.actor,
      begin: heard + 200,
      name: failure ? "errored" : "ready",
      object: `tensor '${tensor.label}'`,
      ticket,
      cause: told,
      error: failure ? op.error : "",
    });
  }
}

/**
 * A run of the stress tool: two clients, one context, two lanes; the seed picks what is delivered.
 */
export function scheduleTrace({ seed = 1, after = 0, steps = 40 } = {}) {
  const program = random(7); // of both runs of a pair
  const common = random(99);
  const own = random(seed);
  const maker = new Maker(`schedule-${seed}.trace`, "step");
  const context = maker.context("world");
  const clients = ["a", "b"].map((name) => maker.actor("caller", name, "callers", -1));
  const actor = maker.actor("context", "world", "content", context);
  const tensors = ["x", "y"].map((name) => maker.actor("tensor", name, "content", context));
  const lanes = [0, 1].map((lane) => maker.actor("device", "", "device", context, { lane }));
  const mail = [];
  const handled = [];
  const plan = Array.from({ length: steps }, (_, i) => ({
    client: clients[i % 2],
    name: program.pick(["write", "dispatch", "read"]),
    tensor: program.below(2),
    lane: program.below(2),
    label: `op ${i}`,
  }));
  let ticket = 0;
  const post = (from, event, to, name, call, step, number = 0) =>
    mail.push({ from, event, to, name, call, sent: step, number });
  const submit = (step) => {
    const call = plan.shift();
    if (call) post(call.client, null, call.client, "call", call, step);
  };
  submit(0), submit(0), submit(0);
  for (let step = 0; step < steps && mail.length > 0; ++step) {
    const dice = step < after ? common : own;
    const [one] = mail.splice(dice.below(mail.length), 1);
    const { call } = one;
    const event = maker.event({
      kind: one.name === "call" ? 0 : 1,
      actor: one.to,
      begin: step,
      duration: 1,
      name: one.name === "call" ? call.name : one.name,
      label: call.label,
      object: `tensor '${"xy"[call.tensor]}'`,
      ticket: one.number,
      cause: one.event,
    });
    handled.push(event);
    if (one.event)
      maker.message(one.event, event, one.from, one.to, one.sent, step, one.name, one.number);
    if (one.name === "call") {
      post(one.to, event, actor, "submit", call, step);
      submit(step);
    } else if (one.name === "submit") {
      event.ticket = ++ticket;
      post(actor, event, lanes[call.lane], call.name, call, step, ticket);
    } else if (one.name !== "outcome") {
      const op = { kind: 2, actor: one.to, begin: step, duration: 1, name: call.name };
      const done = maker.event({ ...op, label: call.label, ticket: one.number, cause: event });
      post(one.to, done, tensors[call.tensor], "outcome", call, step, one.number);
    }
  }
  for (const one of mail)
    if (one.event)
      maker.message(one.event, null, one.from, one.to, one.sent, -1, one.name, one.number);
  maker.schedule = {
    events: handled,
    verdict:
      seed === 2 ? "lost update: read 'op 5' saw the value of 'op 1', not that of 'op 3'" : "",
  };
  return maker.finish();
}
