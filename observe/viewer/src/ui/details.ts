// The details of the selection: its kind, why it waited, its error, and its whole chain of causes. Each link
// of the chain is a button that goes there.
import type { App } from "../app";
import {
  Kind,
  State,
  actorTitle,
  durationText,
  eventTitle,
  kindNames,
  momentText,
  short,
  ticketTitle,
} from "../data/trace";
import { waitText } from "../draw/slices";
import type { Pane, Selection } from "../pane";
import { button, el } from "./dom";

export function details(app: App, selection: Selection): HTMLElement {
  const pane = app.panes[selection.pane];
  const of = new Details(app, pane);
  if ("message" in selection) return of.message(selection.message);
  if (pane.items.isWait(selection.item)) return of.wait(selection.item - pane.trace.events.count);
  return of.event(selection.item);
}

const effectsShown = 12;

class Details {
  private element = el("div", { class: "details" });

  constructor(
    private app: App,
    private pane: Pane,
  ) {}

  event(event: number): HTMLElement {
    const { trace, links } = this.pane;
    const { events, strings } = trace;
    this.head(eventTitle(trace, event), kindNames[events.kind[event]], this.state(event));
    const begin = events.begin[event];
    const length = events.end[event] - begin;
    const facts: [string, string][] = [["on", actorTitle(trace, events.actor[event])]];
    const of = trace.contexts[trace.actors[events.actor[event]].context];
    if (of) facts.push(["context", of]);
    facts.push(["begins", this.moment(begin)]);
    if (length > 0) facts.push(["takes", durationText(trace, length)]);
    if (strings[events.object[event]]) facts.push(["object", strings[events.object[event]]]);
    const detail = strings[events.detail[event]];
    if (detail) facts.push([events.kind[event] === Kind.step ? "runs as" : "detail", detail]);
    this.facts(facts);
    this.ticket(events.context[event], events.ticket[event]);
    if (events.error[event]) this.error(strings[events.error[event]]);
    for (const lint of links.lints.of(event))
      this.element.append(el("p", { class: "warn" }, trace.lints[lint].text));
    this.waits("Waited", links.waits.of(event));
    const path = links.errorPath(event);
    if (path.length > 0 && path[0] !== event) this.links("Path of the error", path, event);
    this.links("Because of", links.chain(event), event);
    this.messages("Received", links.received.of(event), false);
    this.messages("Sent", links.sent.of(event), true);
    this.effects(event);
    this.waits("Kept waiting", links.waitedFor.of(event));
    return this.element;
  }

  message(message: number): HTMLElement {
    const { trace, links } = this.pane;
    const { messages, strings } = trace;
    const pending = Number.isNaN(messages.received[message]);
    this.head(
      short(strings[messages.name[message]]) || "message",
      "message",
      pending ? "not handled" : "",
    );
    const { from, to, fromActor, toActor, sent, received } = messages;
    const facts: [string, string][] = [
      ["from", actorTitle(trace, fromActor[message])],
      ["to", actorTitle(trace, toActor[message])],
      ["sent", Number.isNaN(sent[message]) ? "before the recording" : this.moment(sent[message])],
    ];
    if (!pending) facts.push(["handled", this.moment(received[message])]);
    const way = received[message] - sent[message];
    if (!Number.isNaN(way)) facts.push(["on its way", durationText(trace, way)]);
    this.facts(facts);
    this.ticket(links.messageContext(message), messages.ticket[message]);
    if (to[message] >= 0) this.links("Handled in", [to[message]], -1);
    if (from[message] >= 0) this.links("Because of", links.chain(from[message]), -1);
    return this.element;
  }

  wait(wait: number): HTMLElement {
    const { trace } = this.pane;
    const { waits } = trace;
    this.head(waitText(trace, wait), "wait", "");
    this.facts([
      ["on", actorTitle(trace, waits.actor[wait])],
      ["begins", this.moment(waits.begin[wait])],
      ["takes", durationText(trace, waits.end[wait] - waits.begin[wait])],
    ]);
    this.ticket(trace.actors[waits.actor[wait]].context, waits.ticket[wait]);
    if (waits.event[wait] >= 0) this.links("Waits", [waits.event[wait]], -1);
    if (waits.on[wait] >= 0) this.links("Waits for", this.pane.links.chain(waits.on[wait]), -1);
    return this.element;
  }

  private head(title: string, kind: string, state: string): void {
    this.element.append(
      el("h2", { tabindex: "-1" }, title),
      el(
        "p",
        { class: "badges" },
        el("span", { class: "badge" }, kind),
        state ? el("span", { class: "badge bad" }, state) : null,
        this.app.panes.length > 1 ? el("span", { class: "badge" }, this.pane.trace.title) : null,
      ),
    );
  }

  private state(event: number): string {
    const { state } = this.pane.trace.events;
    if (state[event] === State.failed) return "failed";
    return state[event] === State.notRun ? "not run" : "";
  }

  private moment(time: number): string {
    const { trace } = this.pane;
    return momentText(trace, trace.clock === "step" ? time : time - trace.first);
  }

  private facts(list: [string, string][]): void {
    const rows = list.flatMap(([name, value]) => [el("dt", {}, name), el("dd", {}, value)]);
    this.element.append(el("dl", {}, ...rows));
  }

  private ticket(context: number, ticket: number): void {
    if (ticket === 0) return;
    const { followed } = this.app.scene;
    const on = followed?.ticket === ticket && followed.context === context;
    const title = ticketTitle(this.pane.trace, context, ticket);
    const follow = (): void =>
      on ? this.app.unfollow() : this.app.follow(this.pane.index, context, ticket);
    this.element.append(
      button(
        on ? `stop following ${title}` : `follow ${title}`,
        "T: follow through all actors",
        follow,
        {
          class: on ? "follow on" : "follow",
          "aria-pressed": String(on),
        },
      ),
    );
  }

  private error(text: string): void {
    this.element.append(el("pre", { class: "error" }, text));
  }

  private section(title: string): HTMLElement {
    const list = el("ol");
    this.element.append(el("h3", {}, title), list);
    return list;
  }

  private links(title: string, events: number[], current: number): void {
    const rest = events.filter((event) => event !== current);
    if (rest.length === 0) return;
    const list = this.section(title);
    for (const event of rest) list.append(el("li", {}, this.link(event)));
  }

  private link(event: number): HTMLElement {
    const { trace } = this.pane;
    const bad = trace.events.state[event] !== 0 || trace.events.kind[event] === Kind.failure;
    const ticket = trace.events.ticket[event];
    const element = button(
      "",
      `${eventTitle(trace, event)}, ${actorTitle(trace, trace.events.actor[event])}`,
      () => this.app.selectEvent(this.pane.index, event),
      { class: bad ? "link bad" : "link" },
    );
    element.append(
      el(
        "span",
        { class: "title" },
        `${kindNames[trace.events.kind[event]]} ${eventTitle(trace, event)}`,
      ),
      el(
        "span",
        { class: "note" },
        [
          actorTitle(trace, trace.events.actor[event]),
          ticket ? `t${ticket}` : "",
          this.moment(trace.events.begin[event]),
        ]
          .filter(Boolean)
          .join(" · "),
      ),
    );
    return element;
  }

  private messages(title: string, messages: ArrayLike<number>, outgoing: boolean): void {
    if (messages.length === 0) return;
    const list = this.section(title);
    const { trace } = this.pane;
    for (const message of Array.from(messages).slice(0, effectsShown)) {
      const other = outgoing ? trace.messages.toActor[message] : trace.messages.fromActor[message];
      const name = short(trace.strings[trace.messages.name[message]]);
      const element = button(
        "",
        `message ${name}`,
        () => this.app.select({ pane: this.pane.index, message }),
        { class: "link" },
      );
      element.append(
        el("span", { class: "title" }, `message ${name}`),
        el("span", { class: "note" }, `${outgoing ? "to" : "from"} ${actorTitle(trace, other)}`),
      );
      list.append(el("li", {}, element));
    }
    this.more(list, messages.length);
  }

  private effects(event: number): void {
    const effects = this.pane.links.effects.of(event);
    if (effects.length === 0) return;
    const list = this.section("Led to");
    for (const effect of effects.slice(0, effectsShown))
      list.append(el("li", {}, this.link(effect)));
    this.more(list, effects.length);
  }

  private waits(title: string, waits: ArrayLike<number>): void {
    if (waits.length === 0) return;
    const list = this.section(title);
    const { trace } = this.pane;
    for (const wait of Array.from(waits).slice(0, effectsShown)) {
      const item = trace.events.count + wait;
      const text = waitText(trace, wait);
      const element = button("", text, () => this.app.select({ pane: this.pane.index, item }), {
        class: "link",
      });
      element.append(el("span", { class: "title" }, text));
      list.append(el("li", {}, element));
    }
    this.more(list, waits.length);
  }

  private more(list: HTMLElement, count: number): void {
    if (count > effectsShown)
      list.append(el("li", { class: "note" }, `and ${count - effectsShown} more`));
  }
}
