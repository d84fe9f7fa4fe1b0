// From the text in the page to a Trace. Others wrote the text: every index is checked once, here, and later
// code relies on that. Errors are one line.
import type { Actor, Band, Counter, Events, Lint, Messages, Schedule, Trace, Waits } from "./trace";
import { bands, short } from "./trace";

/** The data cannot be shown; the message is for the user. */
export class Damaged extends Error {}

type Fields = Record<string, unknown>;

/** Base64 of deflated JSON -> JSON. */
export async function unpack(text: string): Promise<unknown> {
  const trimmed = text.trim();
  if (trimmed === "" || trimmed.startsWith("@"))
    throw new Damaged("this page holds no trace yet: 'polychron trace view' puts one into it");
  let bytes: Uint8Array<ArrayBuffer>;
  try {
    const binary = atob(trimmed);
    bytes = new Uint8Array(binary.length);
    for (let i = 0; i < binary.length; ++i) bytes[i] = binary.charCodeAt(i);
  } catch {
    throw new Damaged("the trace in this page is damaged: it is not base64");
  }
  let json: string;
  try {
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
    json = await new Response(stream).text();
  } catch {
    throw new Damaged("the trace in this page is damaged: it cannot be inflated");
  }
  try {
    return JSON.parse(json);
  } catch {
    throw new Damaged(`the trace in this page is damaged: ${json.length} characters, no JSON`);
  }
}

export function decode(data: unknown, inner = false): Trace {
  const raw = fields(data, "trace");
  if (raw.format !== "polychron-trace-page")
    throw new Damaged("this is no trace of Polychron: its format is " + brief(raw.format));
  if (raw.version !== 1)
    throw new Damaged(`this trace has version ${brief(raw.version)}, the page reads version 1`);
  const strings = texts(raw.strings);
  const contexts = list(raw.contexts, "contexts").map((one, i) =>
    short(text(strings, fields(one, `contexts[${i}]`).label, `contexts[${i}].label`)),
  );
  const actors = list(raw.actors, "actors").map((one, i) =>
    actor(fields(one, `actors[${i}]`), i, strings, contexts.length),
  );
  const step = raw.clock === "step";
  const events = decodeEvents(fields(raw.events, "events"), strings.length, actors.length, step);
  const messages = decodeMessages(raw.messages, strings.length, actors.length, events);
  const waits = decodeWaits(raw.waits, strings.length, actors.length, events.count);
  const trace: Trace = {
    title: typeof raw.title === "string" ? short(raw.title) : "trace",
    began: number(raw.began, "began", 0),
    clock: step ? "step" : "ns",
    dropped: number(raw.dropped, "dropped", 0),
    strings,
    contexts,
    actors,
    events,
    messages,
    waits,
    counters: list(raw.counters ?? [], "counters").map((one, i) =>
      counter(fields(one, `counters[${i}]`), i, strings, contexts.length),
    ),
    lints: list(raw.lints ?? [], "lints").map((one, i) =>
      lint(fields(one, `lints[${i}]`), i, strings, events.count),
    ),
    schedule: schedule(raw.schedule, strings, events.count),
    other: raw.other && !inner ? decode(raw.other, true) : null,
    first: 0,
    last: 1,
  };
  contextsOfCalls(trace);
  extent(trace);
  return trace;
}

function brief(value: unknown): string {
  const shown = JSON.stringify(value) ?? "missing";
  return shown.length > 40 ? shown.slice(0, 40) + "…" : shown;
}

function damaged(what: string): never {
  throw new Damaged(`the trace in this page is damaged: ${what}`);
}

function fields(value: unknown, what: string): Fields {
  if (typeof value !== "object" || value === null || Array.isArray(value))
    damaged(`${what} is ${brief(value)}, not an object`);
  return value as Fields;
}

function list(value: unknown, what: string): unknown[] {
  if (!Array.isArray(value)) damaged(`${what} is ${brief(value)}, not a list`);
  return value;
}

function number(value: unknown, what: string, missing?: number): number {
  if (value === undefined && missing !== undefined) return missing;
  if (typeof value !== "number" || !Number.isFinite(value))
    damaged(`${what} is ${brief(value)}, not a number`);
  return value;
}

const textAtMost = 20000; // letters: a browser takes seconds to lay out a longer text

function texts(value: unknown): string[] {
  const all = list(value, "strings");
  all.forEach((one, i) => {
    if (typeof one !== "string") damaged(`strings[${i}] is ${brief(one)}, not a text`);
  });
  if (all[0] !== "") damaged("strings[0] is not empty");
  return (all as string[]).map((one) =>
    one.length <= textAtMost
      ? one
      : `${one.slice(0, textAtMost)}… (and ${one.length - textAtMost} more letters)`,
  );
}

function index(value: unknown, below: number, what: string, lowest = 0): number {
  const at = number(value, what);
  if (!Number.isInteger(at) || at < lowest || at >= below)
    damaged(`${what} is ${at}, of ${below} there are`);
  return at;
}

function text(strings: string[], value: unknown, what: string): string {
  return strings[index(value, strings.length, what)];
}

function actor(raw: Fields, i: number, strings: string[], contexts: number): Actor {
  const at = `actors[${i}]`;
  if (!bands.includes(raw.band as Band)) damaged(`${at}.band is ${brief(raw.band)}`);
  const end = number(raw.end, `${at}.end`, -1);
  return {
    kind: text(strings, raw.kind, `${at}.kind`),
    label: text(strings, raw.label, `${at}.label`),
    context: index(raw.context ?? -1, contexts, `${at}.context`, -1),
    band: raw.band as Band,
    lane: number(raw.lane, `${at}.lane`, 0),
    start: number(raw.start, `${at}.start`, 0),
    end: end < 0 ? Infinity : end,
  };
}

/** Reads a column of whole numbers; all have to be as long as the first. */
class Columns {
  constructor(
    private raw: Fields,
    private what: string,
    readonly count: number,
  ) {}

  static of(value: unknown, what: string, first: string): Columns {
    const raw = fields(value, what);
    return new Columns(raw, what, list(raw[first], `${what}.${first}`).length);
  }

  /** Indexes from lowest to below; a missing column is all `missing`, if that is given. */
  ids(name: string, lowest: number, below: number, missing?: number): Int32Array {
    const out = new Int32Array(this.count);
    if (this.raw[name] === undefined && missing !== undefined) return out.fill(missing);
    const column = this.column(name);
    for (let i = 0; i < out.length; ++i) {
      const value = column[i] as number;
      if (!Number.isInteger(value) || value < lowest || value >= below)
        damaged(`${this.what}.${name}[${i}] is ${brief(value)}, not ${lowest} to ${below - 1}`);
      out[i] = value;
    }
    return out;
  }

  times(name: string): Float64Array {
    const column = this.column(name);
    const out = new Float64Array(this.count);
    for (let i = 0; i < out.length; ++i) out[i] = number(column[i], `${this.what}.${name}[${i}]`);
    return out;
  }

  private column(name: string): unknown[] {
    const column = list(this.raw[name], `${this.what}.${name}`);
    if (column.length !== this.count)
      damaged(`${this.what}.${name} has ${column.length} entries, others ${this.count}`);
    return column;
  }
}

const ticketLimit = 2 ** 31;

function decodeEvents(raw: Fields, strings: number, actors: number, step: boolean): Events {
  const of = Columns.of(raw, "events", "kind");
  const kind = Uint8Array.from(of.ids("kind", 0, 7));
  const begin = of.times("begin");
  const end = of.times("duration");
  for (let i = 0; i < of.count; ++i) {
    if (i > 0) {
      if (begin[i] < 0) damaged(`events.begin[${i}] is before the one before`);
      begin[i] += begin[i - 1];
    }
    if (end[i] < 0) damaged(`events.duration[${i}] is ${end[i]}`);
    // In a driven world an event takes the step in which it happens.
    if (step && kind[i] <= 3 && end[i] === 0) end[i] = 1;
    end[i] += begin[i];
  }
  const actor = of.ids("actor", 0, actors);
  return {
    count: of.count,
    kind,
    actor,
    begin,
    end,
    name: of.ids("name", 0, strings),
    label: of.ids("label", 0, strings, 0),
    object: of.ids("object", 0, strings, 0),
    detail: of.ids("detail", 0, strings, 0),
    error: of.ids("error", 0, strings, 0),
    ticket: of.ids("ticket", 0, ticketLimit, 0),
    state: Uint8Array.from(of.ids("state", 0, 3, 0)),
    cause: of.ids("cause", -1, of.count, -1),
    context: new Int32Array(of.count),
  };
}

function decodeMessages(raw: unknown, strings: number, actors: number, events: Events): Messages {
  const of = Columns.of(raw ?? { from: [] }, "messages", "from");
  if (of.count === 0) raw = undefined;
  const none = raw === undefined;
  const from = of.ids("from", -1, events.count);
  const to = of.ids("to", -1, events.count, none ? -1 : undefined);
  const sent = none ? new Float64Array(0) : of.times("sent");
  const received = none ? new Float64Array(0) : of.times("received");
  for (let i = 0; i < of.count; ++i) {
    if (sent[i] < 0) sent[i] = from[i] >= 0 ? events.begin[from[i]] : NaN;
    if (received[i] < 0) received[i] = to[i] >= 0 ? events.begin[to[i]] : NaN;
  }
  return {
    count: of.count,
    from,
    to,
    fromActor: of.ids("from_actor", -1, actors, none ? -1 : undefined),
    toActor: of.ids("to_actor", -1, actors, none ? -1 : undefined),
    sent,
    received,
    name: of.ids("name", 0, strings, 0),
    ticket: of.ids("ticket", 0, ticketLimit, 0),
  };
}

function decodeWaits(raw: unknown, strings: number, actors: number, events: number): Waits {
  const empty = { actor: [], begin: [], end: [], ticket: [], text: [], event: [], on: [] };
  const of = Columns.of(raw ?? empty, "waits", "actor");
  const begin = of.times("begin");
  const end = of.times("end");
  for (let i = 0; i < of.count; ++i) if (end[i] < begin[i]) end[i] = begin[i];
  return {
    count: of.count,
    actor: of.ids("actor", 0, actors),
    begin,
    end,
    ticket: of.ids("ticket", 0, ticketLimit, 0),
    text: of.ids("text", 0, strings),
    event: of.ids("event", -1, events, -1),
    on: of.ids("on", -1, events, -1),
  };
}

function counter(raw: Fields, i: number, strings: string[], contexts: number): Counter {
  const of = Columns.of(raw, `counters[${i}]`, "time");
  return {
    name: text(strings, raw.name, `counters[${i}].name`),
    unit: typeof raw.unit === "string" ? raw.unit : "",
    context: index(raw.context ?? -1, contexts, `counters[${i}].context`, -1),
    time: of.times("time"),
    value: of.times("value"),
  };
}

function lint(raw: Fields, i: number, strings: string[], events: number): Lint {
  return {
    text: text(strings, raw.text, `lints[${i}].text`),
    event: index(raw.event ?? -1, events, `lints[${i}].event`, -1),
  };
}

function schedule(raw: unknown, strings: string[], events: number): Schedule | null {
  if (raw === null || raw === undefined) return null;
  const of = Columns.of(raw, "schedule", "events");
  return {
    events: of.ids("events", 0, events),
    verdict: text(strings, (raw as Fields).verdict ?? 0, "schedule.verdict"),
  };
}

/** Tickets count per context. A caller has none of its own: its calls belong to the context that it calls. */
function contextsOfCalls(trace: Trace): void {
  const { events, messages, actors } = trace;
  for (let i = 0; i < events.count; ++i) events.context[i] = actors[events.actor[i]].context;
  for (let i = 0; i < messages.count; ++i) {
    const from = messages.from[i];
    const to = messages.toActor[i];
    if (from >= 0 && to >= 0 && events.context[from] < 0) events.context[from] = actors[to].context;
  }
}

function extent(trace: Trace): void {
  const { events, waits, counters } = trace;
  let first = Infinity;
  let last = -Infinity;
  if (events.count > 0) first = events.begin[0];
  for (let i = 0; i < events.count; ++i) if (events.end[i] > last) last = events.end[i];
  for (let i = 0; i < waits.count; ++i) {
    first = Math.min(first, waits.begin[i]);
    last = Math.max(last, waits.end[i]);
  }
  for (const { time } of counters)
    if (time.length > 0) {
      first = Math.min(first, time[0]);
      last = Math.max(last, time[time.length - 1]);
    }
  if (!Number.isFinite(first)) first = 0;
  if (!(last > first)) last = first + 1;
  trace.first = first;
  trace.last = last;
}
