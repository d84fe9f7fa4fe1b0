// A trace in memory: the columns of the page's data (README.md) as typed arrays, times absolute. Drawing is
// no concern of this file.

/** Kinds of events; the numbers are those of the format. */
export const Kind = {
  call: 0,
  handling: 1,
  operation: 2,
  step: 3,
  outcome: 4,
  failure: 5,
  lint: 6,
} as const;

export const kindNames = ["call", "handling", "operation", "step", "outcome", "failure", "lint"];

/** The end of an operation. */
export const State = { done: 0, failed: 1, notRun: 2 } as const;

export type Band = "callers" | "content" | "device";
export const bands: readonly Band[] = ["callers", "content", "device"];

export interface Actor {
  kind: string;
  label: string;
  context: number; // index into contexts, -1: none
  band: Band;
  lane: number;
  start: number;
  end: number; // Infinity: alive at the end
}

export interface Events {
  count: number;
  kind: Uint8Array;
  actor: Int32Array;
  begin: Float64Array;
  end: Float64Array;
  name: Int32Array; // texts are indexes into strings, 0: none
  label: Int32Array;
  object: Int32Array;
  detail: Int32Array;
  error: Int32Array;
  ticket: Int32Array;
  state: Uint8Array;
  cause: Int32Array;
  context: Int32Array; // the context of the ticket: the actor's, or for a caller the called actor's
}

export interface Messages {
  count: number;
  from: Int32Array;
  to: Int32Array;
  fromActor: Int32Array;
  toActor: Int32Array;
  sent: Float64Array; // NaN: unknown
  received: Float64Array; // NaN: unknown, or not handled
  name: Int32Array;
  ticket: Int32Array;
}

export interface Waits {
  count: number;
  actor: Int32Array;
  begin: Float64Array;
  end: Float64Array;
  ticket: Int32Array;
  text: Int32Array;
  event: Int32Array;
  on: Int32Array;
}

export interface Counter {
  name: string;
  unit: string;
  context: number;
  time: Float64Array;
  value: Float64Array;
}

export interface Lint {
  text: string;
  event: number; // -1: of the whole
}

export interface Schedule {
  events: Int32Array;
  verdict: string;
}

export interface Trace {
  title: string;
  began: number;
  clock: "ns" | "step";
  dropped: number;
  strings: string[];
  actors: Actor[];
  contexts: string[];
  events: Events;
  messages: Messages;
  waits: Waits;
  counters: Counter[];
  lints: Lint[];
  schedule: Schedule | null;
  other: Trace | null;
  first: number; // the first and the last moment of all its contents
  last: number;
}

/** True if an event is shown in the colour of errors. */
export function isError(trace: Trace, event: number): boolean {
  const { kind, state, error } = trace.events;
  return kind[event] === Kind.failure || state[event] !== State.done || error[event] !== 0;
}

const titleAtMost = 200; // letters: a title is for one line, and the details have all of a text

/** The beginning of a text that may have any length. */
export function short(text: string): string {
  return text.length > titleAtMost ? text.slice(0, titleAtMost) + "…" : text;
}

const quoted = (text: string): string => (text ? ` '${short(text)}'` : "");

/** "dispatch 'foo'": the name of an event in slices and lists. */
export function eventTitle(trace: Trace, event: number): string {
  const { name, label, object, kind } = trace.events;
  const text = short(trace.strings[name[event]]) || kindNames[kind[event]];
  const own = trace.strings[label[event]];
  if (own) return text + quoted(own);
  const of = trace.strings[object[event]];
  return of ? `${text.replace(/ of a (tensor|graph)$/, "")} ${short(of)}` : text;
}

/** "tensor 'x'", "lane 1". */
export function actorTitle(trace: Trace, actor: number): string {
  const one = trace.actors[actor];
  if (!one) return "unknown";
  if (one.kind === "device") return `lane ${one.lane}${quoted(one.label)}`;
  // An actor without a name has a number.
  const numbered = one.kind === "caller" ? /^thread \d+$/ : /^#\d+$/;
  return short(one.kind) + (numbered.test(one.label) ? ` ${one.label}` : quoted(one.label));
}

/** "42 (of 'ocr')": tickets count per context, so that a bare number would not do. */
export function ticketTitle(trace: Trace, context: number, ticket: number): string {
  const of = trace.contexts.length > 1 ? trace.contexts[context] : "";
  return `ticket ${ticket}${of ? ` of '${of}'` : ""}`;
}

/** A length of time for people: "3.2 ms", "17 steps". */
export function durationText(trace: Trace, ns: number): string {
  if (trace.clock === "step") return ns === 1 ? "1 step" : `${ns} steps`;
  return nanoseconds(ns);
}

/** A moment for people, counted from the trace's begin. */
export function momentText(trace: Trace, time: number): string {
  return trace.clock === "step" ? `step ${time}` : nanoseconds(time, 7);
}

export function nanoseconds(ns: number, digits = 4): string {
  const [size, unit] = unitOf(Math.abs(ns));
  return `${Number((ns / size).toPrecision(digits))} ${unit}`;
}

/** A mark of an axis: as many digits as tell it from the next, `step` away. */
export function markText(trace: Trace, time: number, step: number): string {
  if (trace.clock === "step") return `step ${time}`;
  const [size, unit] = unitOf(Math.abs(time));
  const digits = Math.max(0, Math.min(9, -Math.floor(Math.log10(step / size) + 1e-9)));
  return `${(time / size).toFixed(digits)} ${unit}`;
}

function unitOf(ns: number): [number, string] {
  if (ns < 1e3) return [1, "ns"];
  if (ns < 1e6) return [1e3, "µs"];
  if (ns < 1e9) return [1e6, "ms"];
  return [1e9, "s"];
}
