// The panel beside the tracks (below them on a phone): details, steps, errors and lints, as tabs.
import type { App } from "../app";
import { actorTitle, eventTitle, momentText, nanoseconds, short } from "../data/trace";
import { details } from "./details";
import { el, find } from "./dom";
import { LongList } from "./list";
import { StepsTab } from "./steps";

interface Tab {
  name: string;
  title: string;
  body: HTMLElement;
}

export class Panel {
  private element = find<HTMLElement>("#panel");
  private tabs: Tab[] = [];
  private buttons: HTMLButtonElement[] = [];
  private current = "";
  private body = el("div", { class: "tab details-tab" });
  private steps: StepsTab | null;

  constructor(private app: App) {
    this.steps = app.stepCount > 0 ? new StepsTab(app) : null;
    this.tabs.push({ name: "details", title: "Details", body: this.body });
    if (this.steps) this.tabs.push({ name: "steps", title: "Steps", body: this.steps.element });
    this.addErrors();
    this.addLints();
    const row = el("div", { class: "tabs", role: "tablist", "aria-label": "Panel" });
    for (const tab of this.tabs) {
      const one = el(
        "button",
        { type: "button", role: "tab", id: `tab-${tab.name}`, "aria-controls": `body-${tab.name}` },
        tab.title,
      );
      one.addEventListener("click", () => this.click(tab.name));
      one.addEventListener("keydown", (event) => this.arrow(event));
      tab.body.id = `body-${tab.name}`;
      tab.body.setAttribute("role", "tabpanel");
      tab.body.setAttribute("aria-labelledby", `tab-${tab.name}`);
      this.buttons.push(one);
      row.append(one);
    }
    this.element.append(row, ...this.tabs.map((tab) => tab.body));
    // With a run of the stress tool, and with two runs, the order of events is of interest.
    const ordered = app.trace.clock === "step" || app.panes.length > 1;
    this.show(ordered && this.steps ? "steps" : "details", false);
    this.select();
  }

  /** Shows a tab; on a phone that also draws the panel up, if it is asked for. */
  show(name: string, raise = true): void {
    this.current = name;
    this.app.scene.stepping = name === "steps";
    this.app.invalidate();
    this.tabs.forEach((tab, i) => {
      const on = tab.name === name;
      tab.body.hidden = !on;
      this.buttons[i].setAttribute("aria-selected", String(on));
      this.buttons[i].tabIndex = on ? 0 : -1;
    });
    if (raise) this.raise(true);
  }

  raise(up: boolean): void {
    document.body.classList.toggle("raised", up);
  }

  toggle(): void {
    document.body.classList.toggle("narrow");
    this.raise(!document.body.classList.contains("raised"));
  }

  /** The selection, the followed ticket or the step have changed. */
  select(): void {
    const { selection } = this.app.scene;
    const focused = this.body.contains(document.activeElement);
    this.body.replaceChildren(selection ? details(this.app, selection) : this.summary());
    this.body.scrollTop = 0;
    if (focused) this.body.querySelector<HTMLElement>("h2")?.focus();
    this.steps?.show();
    if (!selection) return;
    if (this.current !== "steps") this.show("details");
    else this.raise(true);
  }

  private click(name: string): void {
    const up = document.body.classList.contains("raised");
    if (up && name === this.current && matchMedia("(max-width: 700px)").matches) this.raise(false);
    else this.show(name);
  }

  private arrow(event: KeyboardEvent): void {
    const way = event.key === "ArrowRight" ? 1 : event.key === "ArrowLeft" ? -1 : 0;
    if (way === 0) return;
    const at = this.tabs.findIndex((tab) => tab.name === this.current);
    const next = (at + way + this.tabs.length) % this.tabs.length;
    this.show(this.tabs[next].name);
    this.buttons[next].focus();
  }

  private summary(): HTMLElement {
    const element = el("div", { class: "details" });
    for (const { trace } of this.app.panes) {
      const length = trace.last - trace.first;
      const steps = trace.clock === "step";
      const facts: [string, string][] = [
        [
          steps ? "steps" : "length",
          steps ? String(trace.schedule?.events.length ?? length) : nanoseconds(length),
        ],
        ["events", trace.events.count.toLocaleString("en")],
        ["messages", trace.messages.count.toLocaleString("en")],
        ["actors", trace.actors.length.toLocaleString("en")],
      ];
      if (!steps && trace.began > 0)
        facts.unshift([
          "began",
          new Date(trace.began * 1000).toISOString().replace("T", " ").slice(0, 19) + " UTC",
        ]);
      if (trace.dropped > 0)
        facts.push(["dropped", `${trace.dropped.toLocaleString("en")} oldest events`]);
      element.append(
        el("h2", {}, trace.title),
        el("dl", {}, ...facts.flatMap(([a, b]) => [el("dt", {}, a), el("dd", {}, b)])),
      );
      if (trace.events.count === 0)
        element.append(el("p", { class: "hint" }, "Nothing was recorded."));
    }
    element.append(
      this.legend(),
      el("p", { class: "hint" }, "Click what you want to know about. Press ? for the keys."),
    );
    return element;
  }

  private legend(): HTMLElement {
    const entries: [string, string][] = [
      ["call", "call"],
      ["handling", "handling of a message"],
      ["dispatch", "dispatch"],
      ["write", "write"],
      ["read", "read"],
      ["step", "step of a plan"],
      ["wait", "wait"],
      ["failed", "failed"],
      ["notrun", "not run: its input was errored"],
    ];
    return el(
      "ul",
      { class: "legend", "aria-label": "Colours" },
      ...entries.map(([name, text]) =>
        el("li", {}, el("span", { class: `swatch ${name}`, "aria-hidden": "true" }), text),
      ),
    );
  }

  private addErrors(): void {
    const entries = this.app.panes.flatMap((pane) =>
      Array.from(pane.links.errors, (event) => ({ pane, event })),
    );
    const list = new LongList("Errors", 44, (i) =>
      this.app.selectEvent(entries[i].pane.index, entries[i].event),
    );
    list.element.classList.add("tab");
    this.tabs.push({ name: "errors", title: `Errors ${entries.length}`, body: list.element });
    list.show(entries.length, (i) => {
      const { pane, event } = entries[i];
      const { trace } = pane;
      const text = trace.strings[trace.events.error[event]].replace(/\n/g, " ");
      return {
        title: eventTitle(trace, event),
        note: short(text) || actorTitle(trace, trace.events.actor[event]),
        mark: "error",
      };
    });
    if (entries.length === 0) list.element.append(el("p", { class: "hint" }, "Nothing failed."));
  }

  private addLints(): void {
    const entries = this.app.panes.flatMap((pane) =>
      pane.trace.lints.map((lint) => ({ pane, lint })),
    );
    const list = new LongList("Lints", 44, (i) => {
      const { pane, lint } = entries[i];
      if (lint.event >= 0) this.app.selectEvent(pane.index, lint.event);
    });
    list.element.classList.add("tab");
    this.tabs.push({ name: "lints", title: `Lints ${entries.length}`, body: list.element });
    list.show(entries.length, (i) => {
      const { pane, lint } = entries[i];
      const { trace } = pane;
      const at = lint.event;
      const shift = trace.clock === "step" ? 0 : trace.first;
      const note =
        at < 0
          ? "of the whole"
          : `${eventTitle(trace, at)}, at ${momentText(trace, trace.events.begin[at] - shift)}`;
      return { title: short(lint.text), note, mark: "lint" };
    });
    if (entries.length === 0) list.element.append(el("p", { class: "hint" }, "No lints."));
  }
}
