// A run, step by step: the event of a step, the messages then in flight, and the first difference of two
// runs. Steps are those of the stress tool's world. In any other run they are the actors' events in order.
import { actorTitle, eventTitle } from "./trace";
import type { Trace } from "./trace";
import type { Links } from "./links";

export class Steps {
  readonly count: number;
  readonly verdict: string;
  private stepOf = new Map<number, number>();
  private callers = new Map<number, number>(); // number of the caller that an actor is, from 1
  private pending: { step: number; messages: number[] } = { step: -1, messages: [] };

  constructor(
    readonly trace: Trace,
    readonly links: Links,
  ) {
    const schedule = trace.schedule;
    this.count = schedule ? schedule.events.length : 0;
    this.verdict = schedule ? schedule.verdict : "";
    trace.actors.forEach(({ kind }, actor) => {
      if (kind === "caller") this.callers.set(actor, this.callers.size + 1);
    });
    schedule?.events.forEach((event, step) => this.stepOf.set(event, step));
  }

  event(step: number): number {
    return this.trace.schedule!.events[step];
  }

  /** Its number for people: the one on the axis of time, if that counts steps. */
  number(step: number): number {
    return this.trace.clock === "step" ? this.begin(step) : step + 1;
  }

  begin(step: number): number {
    return this.trace.events.begin[this.event(step)];
  }

  /** The step in which an event happened; -1: not of the schedule. */
  of(event: number): number {
    for (const at of this.links.chain(event)) {
      const step = this.stepOf.get(at);
      if (step !== undefined) return step;
    }
    return -1;
  }

  /** The message that a step handles; -1: none. */
  message(step: number): number {
    return this.links.received.of(this.event(step))[0] ?? -1;
  }

  /** Messages that were sent by the end of a step and are handled later, or never. */
  undelivered(step: number): number[] {
    if (this.pending.step === step) return this.pending.messages;
    const { messages, events, clock } = this.trace;
    const now = clock === "step" ? this.begin(step) : events.end[this.event(step)];
    const pending: number[] = [];
    for (let i = 0; i < messages.count; ++i) {
      const sent = Number.isNaN(messages.sent[i]) ? -Infinity : messages.sent[i];
      const received = Number.isNaN(messages.received[i]) ? Infinity : messages.received[i];
      if (sent <= now && received > now) pending.push(i);
    }
    this.pending = { step, messages: pending };
    return pending;
  }

  /** The event of a step, in one line. */
  text(step: number): string {
    return this.line(step, actorTitle(this.trace, this.trace.events.actor[this.event(step)]));
  }

  /** Equal texts are the same choice: threads have other numbers in each process. */
  choice(step: number): string {
    const actor = this.trace.events.actor[this.event(step)];
    const thread = /^thread \d+$/.test(this.trace.actors[actor].label);
    const title = thread ? `caller ${this.callers.get(actor)}` : actorTitle(this.trace, actor);
    return this.line(step, title);
  }

  private line(step: number, to: string): string {
    const event = this.event(step);
    const ticket = this.trace.events.ticket[event];
    return `${to}: ${eventTitle(this.trace, event)}${ticket ? ` t${ticket}` : ""}`;
  }
}

/** The first step that differs; -1: none does. If one run is longer, it differs where the other ends. */
export function firstDifference(a: Steps, b: Steps): number {
  const both = Math.min(a.count, b.count);
  for (let i = 0; i < both; ++i) if (a.choice(i) !== b.choice(i)) return i;
  return a.count === b.count ? -1 : both;
}
