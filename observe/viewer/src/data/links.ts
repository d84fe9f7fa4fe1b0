// Relations: causes and effects, messages of an event, waits, tickets, failures. Built once, so that a click
// is answered at once in a trace of any size.
import { Kind, isError } from "./trace";
import type { Trace } from "./trace";

/** Lists of numbers under a number, all in two arrays. */
export class Groups {
  private constructor(
    private starts: Int32Array,
    private items: Int32Array,
  ) {}

  /** The indexes of `keys` under their key; keys below zero are in no group. */
  static by(keys: ArrayLike<number>, groups: number): Groups {
    const starts = new Int32Array(groups + 1);
    for (let i = 0; i < keys.length; ++i) if (keys[i] >= 0) ++starts[keys[i] + 1];
    for (let i = 0; i < groups; ++i) starts[i + 1] += starts[i];
    const next = starts.slice();
    const items = new Int32Array(starts[groups]);
    for (let i = 0; i < keys.length; ++i) if (keys[i] >= 0) items[next[keys[i]]++] = i;
    return new Groups(starts, items);
  }

  of(group: number): Int32Array {
    return this.items.subarray(this.starts[group], this.starts[group + 1]);
  }
}

export class Links {
  readonly effects: Groups;
  readonly sent: Groups; // messages that were sent in an event
  readonly received: Groups; // messages that were handled in it
  readonly waits: Groups; // waits of an event
  readonly waitedFor: Groups; // waits for an event
  readonly lints: Groups;
  readonly errors: Int32Array; // failures, and operations that failed without one, in time order
  private failures = new Map<string, number>();

  constructor(readonly trace: Trace) {
    const { events, messages, waits } = trace;
    this.effects = Groups.by(events.cause, events.count);
    this.sent = Groups.by(messages.from, events.count);
    this.received = Groups.by(messages.to, events.count);
    this.waits = Groups.by(waits.event, events.count);
    this.waitedFor = Groups.by(waits.on, events.count);
    this.lints = Groups.by(
      trace.lints.map((lint) => lint.event),
      events.count,
    );
    for (let i = 0; i < events.count; ++i)
      if (events.kind[i] === Kind.failure && !this.failures.has(this.key(i)))
        this.failures.set(this.key(i), i);
    const errors: number[] = [];
    for (let i = 0; i < events.count; ++i) {
      if (!isError(trace, i)) continue;
      const known = events.ticket[i] !== 0 && this.failures.has(this.key(i));
      if (events.kind[i] === Kind.failure || !known) errors.push(i);
    }
    this.errors = Int32Array.from(errors);
  }

  /** The event and its causes, up to the root. A circle, which would be damage, ends. */
  chain(event: number): number[] {
    const { cause } = this.trace.events;
    const path: number[] = [];
    const seen = new Set<number>();
    for (let at = event; at >= 0 && !seen.has(at); at = cause[at]) {
      seen.add(at);
      path.push(at);
    }
    return path;
  }

  /**
   * The failure of an event's operation and those upstream that led to it; empty if it did not fail.
   */
  errorPath(event: number): number[] {
    const { kind, ticket } = this.trace.events;
    let failure = kind[event] === Kind.failure ? event : undefined;
    if (failure === undefined && ticket[event] !== 0 && isError(this.trace, event))
      failure = this.failures.get(this.key(event));
    if (failure === undefined) return [];
    return this.chain(failure).filter((one) => kind[one] === Kind.failure);
  }

  /** All events under a ticket of a context, by any actor, in time order. */
  ticketEvents(context: number, ticket: number): number[] {
    const { events } = this.trace;
    const found: number[] = [];
    for (let i = 0; i < events.count; ++i)
      if (events.ticket[i] === ticket && events.context[i] === context) found.push(i);
    return found;
  }

  /** The context whose tickets a message counts in. */
  messageContext(message: number): number {
    const { messages, actors, events } = this.trace;
    const to = messages.toActor[message];
    if (to >= 0 && actors[to].context >= 0) return actors[to].context;
    const from = messages.from[message];
    if (from >= 0) return events.context[from];
    const sender = messages.fromActor[message];
    return sender >= 0 ? actors[sender].context : -1;
  }

  ticketMessages(context: number, ticket: number): number[] {
    const { messages } = this.trace;
    const found: number[] = [];
    for (let i = 0; i < messages.count; ++i)
      if (messages.ticket[i] === ticket && this.messageContext(i) === context) found.push(i);
    return found;
  }

  private key(event: number): string {
    const { context, ticket } = this.trace.events;
    return `${context[event]}:${ticket[event]}`;
  }
}
