// What makes the data of a trace page: events and messages in any order, texts as texts, by the
// format of ../README.md. What is in it, generate.mjs decides.
import { deflateSync } from "node:zlib";

export function random(seed) {
  let state = seed >>> 0 || 1;
  const next = () => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    state >>>= 0;
    return state / 4294967296;
  };
  return {
    next,
    below: (n) => Math.floor(next() * n),
    between: (low, high) => Math.floor(low + next() * (high - low)),
    pick: (list) => list[Math.floor(next() * list.length)],
    chance: (p) => next() < p,
  };
}

/** Collects events in any order; finish() sorts them and turns names into indexes. */
export class Maker {
  constructor(title, clock = "ns") {
    this.strings = [""];
    this.known = new Map([["", 0]]);
    this.page = { title, clock, actors: [], contexts: [], counters: [] };
    this.events = [];
    this.messages = [];
    this.waits = [];
    this.lints = [];
    this.schedule = null;
  }
  text(text = "") {
    if (!this.known.has(text)) {
      this.known.set(text, this.strings.length);
      this.strings.push(text);
    }
    return this.known.get(text);
  }
  context(label) {
    return this.page.contexts.push({ label: this.text(label) }) - 1;
  }
  actor(kind, label, band, context, { lane = 0, start = 0, end = -1 } = {}) {
    const one = { kind: this.text(kind), label: this.text(label), context, band, lane, start, end };
    return this.page.actors.push(one) - 1;
  }
  event(one) {
    this.events.push({ duration: 0, ticket: 0, state: 0, cause: null, ...one });
    return this.events.at(-1);
  }
  message(from, to, from_actor, to_actor, sent, received, name, ticket = 0) {
    this.messages.push({ from, to, from_actor, to_actor, sent, received, name, ticket });
    return this.messages.at(-1);
  }
  wait(one) {
    this.waits.push({ on: null, ...one });
  }
  lint(text, event = null) {
    this.lints.push({ text, event });
  }
  finish() {
    const place = new Map();
    this.events
      .map((event, i) => ({ event, i }))
      .sort((a, b) => a.event.begin - b.event.begin || a.i - b.i)
      .forEach(({ event }, at) => place.set(event, at));
    const sorted = [...place.keys()];
    const at = (event) => (event ? place.get(event) : -1);
    const column = (list, field) => list.map((one) => one[field]);
    const texts = (list, field) => list.map((one) => this.text(one[field] ?? ""));
    const events = {
      kind: column(sorted, "kind"),
      actor: column(sorted, "actor"),
      begin: sorted.map((one, i) => (i ? one.begin - sorted[i - 1].begin : one.begin)),
      duration: column(sorted, "duration"),
      name: texts(sorted, "name"),
      label: texts(sorted, "label"),
      object: texts(sorted, "object"),
      ticket: column(sorted, "ticket"),
      detail: texts(sorted, "detail"),
      error: texts(sorted, "error"),
      state: column(sorted, "state"),
      cause: sorted.map((one) => at(one.cause)),
    };
    const m = this.messages;
    const messages = {
      from: m.map((one) => at(one.from)),
      to: m.map((one) => at(one.to)),
      from_actor: column(m, "from_actor"),
      to_actor: column(m, "to_actor"),
      sent: column(m, "sent"),
      received: column(m, "received"),
      name: texts(m, "name"),
      ticket: column(m, "ticket"),
    };
    const w = this.waits;
    const waits = {
      actor: column(w, "actor"),
      begin: column(w, "begin"),
      end: column(w, "end"),
      ticket: column(w, "ticket"),
      text: texts(w, "text"),
      event: w.map((one) => at(one.event)),
      on: w.map((one) => at(one.on)),
    };
    const lints = this.lints.map((one) => ({ text: this.text(one.text), event: at(one.event) }));
    const schedule = this.schedule && {
      events: this.schedule.events.map(at),
      verdict: this.text(this.schedule.verdict),
    };
    const counters = this.page.counters.map((one) => ({ ...one, name: this.text(one.name) }));
    return {
      format: "polychron-trace-page",
      version: 1,
      began: 1795340000.25,
      dropped: 0,
      ...this.page,
      strings: this.strings,
      counters,
      events,
      messages,
      waits,
      lints,
      schedule,
      other: null,
    };
  }
}

export function pack(data) {
  return deflateSync(Buffer.from(JSON.stringify(data))).toString("base64");
}
