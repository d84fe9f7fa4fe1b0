// The selection, the followed ticket, the search and the current step, and the one loop that draws them. The
// parts of the page ask it for changes, and it tells them to show these. None of them draws or keeps state of
// its own.
import { Frames } from "./frames";
import { firstDifference } from "./data/schedule";
import { search } from "./data/search";
import { Kind, durationText } from "./data/trace";
import type { Trace } from "./data/trace";
import { themes } from "./draw/palette";
import { itemTitle } from "./draw/slices";
import { levelOf } from "./layout/levels";
import { coarse, fine } from "./layout/sheet";
import { Pane } from "./pane";
import type { Renderer, Scene, Selection } from "./pane";
import { find } from "./ui/dom";
import { Labels } from "./ui/labels";
import { Overview } from "./ui/overview";
import { Panel } from "./ui/panel";
import { View } from "./view";

export class App {
  readonly panes: Pane[];
  readonly view: View;
  readonly scene: Scene;
  readonly frames = new Frames();
  readonly panel: Panel;
  readonly overview: Overview;
  active = 0; // the pane that gets the keys
  /** The action of a held key in each frame; true: it goes on. */
  held: ((elapsed: number) => boolean) | null = null;
  query = "";
  hit = -1; // the selected one of all hits
  private labels: Labels[];
  private asked = false;
  private announcer = find<HTMLElement>("#announcer");

  constructor(
    readonly trace: Trace,
    renderer: Renderer,
  ) {
    const traces = trace.other ? [trace, trace.other] : [trace];
    const touch = matchMedia("(pointer: coarse)").matches;
    this.panes = traces.map((one, i) => new Pane(one, i, touch ? coarse : fine, renderer));
    const first = Math.min(...traces.map((one) => one.first));
    const last = Math.max(...traces.map((one) => one.last));
    const calm = (): boolean => matchMedia("(prefers-reduced-motion: reduce)").matches;
    const least = trace.clock === "step" ? 2 : 20;
    this.view = new View(first, last, least, () => this.invalidate(), calm);
    this.scene = {
      view: this.view,
      axis: trace,
      theme: themes.light,
      selection: null,
      followed: null,
      hits: traces.map(() => new Int32Array(0)),
      step: -1,
      stepping: false,
      difference:
        this.panes.length === 2 ? firstDifference(this.panes[0].steps, this.panes[1].steps) : -1,
      arrows: "auto",
      paper: false,
      pointer: NaN,
    };
    this.labels = this.panes.map((pane) => new Labels(this, pane));
    find("#panes").append(...this.panes.map((pane) => pane.element));
    if (this.panes.length > 1) for (const pane of this.panes) pane.name();
    this.overview = new Overview(this);
    this.panel = new Panel(this);
    new ResizeObserver(() => this.measure()).observe(find("#panes"));
    this.measure();
    // Of a schedule as many steps as can be read, of other traces all.
    const readable = Math.max(8, Math.floor(this.panes[0].width / 60));
    if (trace.clock === "step" && last - first > readable)
      this.view.set(first - 0.5, first - 0.5 + readable);
  }

  measure(): void {
    for (const pane of this.panes) pane.measure();
    this.overview.measure();
    this.invalidate();
  }

  invalidate(): void {
    if (this.asked) return;
    this.asked = true;
    requestAnimationFrame((now) => this.frame(now));
  }

  /** Draws now, without waiting for a frame: for paper. */
  drawNow(): void {
    for (const pane of this.panes) pane.draw(this.scene);
    for (const labels of this.labels) labels.show();
    this.overview.draw();
  }

  select(selection: Selection | null, reveal = true): void {
    this.scene.selection = selection;
    if (selection) {
      this.active = selection.pane;
      const step = "item" in selection ? this.stepOf(selection) : -1;
      if (step >= 0) this.scene.step = step;
      this.announce(this.describe(selection));
    }
    this.panel.select();
    this.measure(); // on a phone the panel takes room when it comes up
    if (selection && reveal) this.revealSelection(selection);
  }

  selectEvent(pane: number, event: number): void {
    if (event >= 0) this.select({ pane, item: event });
  }

  follow(pane: number, context: number, ticket: number): void {
    const { links, items } = this.panes[pane];
    if (ticket === 0) return;
    this.unfollow();
    const events = links.ticketEvents(context, ticket);
    const { waits, events: all, actors } = this.panes[pane].trace;
    const chosen = [...events];
    for (let i = 0; i < waits.count; ++i)
      if (waits.ticket[i] === ticket && actors[waits.actor[i]].context === context)
        chosen.push(all.count + i);
    this.scene.followed = {
      pane,
      context,
      ticket,
      items: new Set(chosen),
      level: levelOf(items, chosen),
      messages: links.ticketMessages(context, ticket),
    };
    this.panes[pane].sheet.focus(new Set(chosen.map((item) => items.track[item])));
    this.panes[pane].scrollTo(0);
    if (events.length > 0) {
      const begin = Math.min(...events.map((event) => all.begin[event]));
      const end = Math.max(...events.map((event) => all.end[event]));
      const air = Math.max((end - begin) * 0.1, 1);
      const { shift } = this.panes[pane];
      this.view.show(begin - air - shift, end + air - shift);
    }
    this.announce(`following ticket ${ticket}: ${events.length} events`);
    this.panel.select();
    this.invalidate();
  }

  unfollow(): void {
    if (!this.scene.followed) return;
    this.panes[this.scene.followed.pane].sheet.focus(null);
    this.scene.followed = null;
    this.panel.select();
    this.measure();
    const { selection } = this.scene;
    if (selection && "item" in selection) this.panes[selection.pane].reveal(selection.item);
  }

  find(query: string): void {
    this.query = query;
    this.hit = -1;
    this.scene.hits = this.panes.map((pane) => search(pane.trace, query));
    this.invalidate();
  }

  get hits(): number {
    return this.scene.hits.reduce((sum, list) => sum + list.length, 0);
  }

  /** To the next hit or the one before; the first time to the first in sight. */
  nextHit(way: number): void {
    const total = this.hits;
    if (total === 0) return;
    if (this.hit < 0 && way > 0) {
      const { begin } = this.panes[0].items;
      const from = this.scene.hits[0].findIndex((event) => begin[event] >= this.view.t0);
      this.hit = Math.max(0, from);
    } else this.hit = (this.hit + way + total) % total;
    let at = this.hit;
    for (let pane = 0; pane < this.panes.length; ++pane) {
      const list = this.scene.hits[pane];
      if (at < list.length) return this.selectEvent(pane, list[at]);
      at -= list.length;
    }
  }

  get stepCount(): number {
    return Math.max(...this.panes.map((pane) => pane.steps.count));
  }

  goToStep(step: number): void {
    if (this.stepCount === 0) return;
    this.scene.step = Math.max(0, Math.min(this.stepCount - 1, step));
    const pane = this.panes.findIndex((one) => this.scene.step < one.steps.count);
    const active = this.scene.step < this.panes[this.active].steps.count ? this.active : pane;
    for (const one of this.panes)
      if (one.index !== active && this.scene.step < one.steps.count)
        one.reveal(one.steps.event(this.scene.step));
    this.align(this.scene.step);
    this.panel.show("steps", false);
    this.selectEvent(active, this.panes[active].steps.event(this.scene.step));
  }

  /** With two runs a step stands at the same place, whatever its time was in either. */
  private align(step: number): void {
    const [a, b] = this.panes;
    if (!b) return;
    const both = step >= 0 && step < Math.min(a.steps.count, b.steps.count);
    b.shift = both ? b.steps.begin(step) - a.steps.begin(step) : 0;
    b.name();
  }

  toggle(pane: Pane, group: number): void {
    pane.sheet.toggle(group);
    pane.scrollTo(pane.scroll);
    this.invalidate();
  }

  describe(selection: Selection): string {
    const pane = this.panes[selection.pane];
    if ("message" in selection)
      return `message ${pane.trace.strings[pane.trace.messages.name[selection.message]]}`;
    const { items } = pane;
    const length = items.end[selection.item] - items.begin[selection.item];
    const title = itemTitle(items, selection.item);
    return length > 0 ? `${title}, ${durationText(pane.trace, length)}` : title;
  }

  announce(text: string): void {
    this.announcer.textContent = text;
  }

  private stepOf(selection: { pane: number; item: number }): number {
    const pane = this.panes[selection.pane];
    return pane.items.isWait(selection.item) ? -1 : pane.steps.of(selection.item);
  }

  private revealSelection(selection: Selection): void {
    const pane = this.panes[selection.pane];
    const { trace } = pane;
    let [begin, end] = [NaN, NaN];
    let air: number | undefined;
    if ("item" in selection) {
      pane.reveal(selection.item);
      [begin, end] = this.around(selection);
      if (trace.events.kind[selection.item] === Kind.failure) air = 1.5;
    } else {
      const { sent, received, from, to } = trace.messages;
      const at = selection.message;
      const times = [sent[at], received[at]].filter((time) => !Number.isNaN(time));
      if (times.length > 0) [begin, end] = [Math.min(...times), Math.max(...times)];
      const event = to[at] >= 0 ? to[at] : from[at];
      if (event >= 0) pane.reveal(event);
    }
    if (Number.isNaN(begin)) return;
    const { view } = this;
    if (begin - pane.shift < view.first || end - pane.shift > view.last) this.align(-1);
    view.reveal(begin - pane.shift, end - pane.shift, air);
  }

  /** The range that must be in sight for an item: all of it; for a moment, the event around it. */
  around({ pane, item }: { pane: number; item: number }): [number, number] {
    const { items, trace } = this.panes[pane];
    const begin = items.begin[item];
    const end = items.end[item];
    if (!items.moment[item]) return [begin, end];
    const cause = trace.events.cause[item];
    const holder = items.holder(item);
    const length = holder >= 0 ? items.end[holder] - items.begin[holder] : 0;
    const air = Math.max(length, (trace.last - trace.first) / 1e5, 100);
    // For a failure also its cause, unless it is far away.
    const failed = trace.events.kind[item] === Kind.failure && cause >= 0;
    const from = failed
      ? items.begin[items.holder(cause) >= 0 ? items.holder(cause) : cause]
      : begin;
    return [Math.min(begin - air * 1.1, Math.max(from, begin - 100 * air)), end + air * 0.3];
  }

  private frame(now: number): void {
    this.asked = false;
    const begin = performance.now();
    const elapsed = this.frames.next(now);
    const moving = this.view.advance(now);
    const holding = this.held !== null && this.held(elapsed);
    this.drawNow();
    this.frames.drawn(performance.now() - begin);
    if (moving || holding) this.invalidate();
    else this.frames.rest();
  }
}
