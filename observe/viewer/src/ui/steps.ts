// A run, step by step: the current step, the message that it handles, and the messages in flight. Two runs
// stand side by side, with the first difference.
import type { App } from "../app";
import { actorTitle, momentText, short } from "../data/trace";
import type { Pane } from "../pane";
import { button, el } from "./dom";
import { LongList } from "./list";

const pendingShown = 30;

export class StepsTab {
  readonly element = el("div", { class: "tab steps-tab" });
  private where = el("span", { class: "where", "aria-live": "polite" });
  private now = el("div", { class: "now" });
  private list: LongList;

  constructor(private app: App) {
    for (const { steps, trace } of app.panes)
      if (steps.verdict)
        this.element.append(
          el(
            "p",
            { class: "verdict" },
            app.panes.length > 1 ? `${trace.title}: ` : "",
            steps.verdict,
          ),
        );
    const { difference } = app.scene;
    this.element.append(
      el(
        "div",
        { class: "stepper", role: "group", "aria-label": "Steps" },
        button("|◀", "first step", () => app.goToStep(0)),
        button("◀ P", "previous step", () => app.goToStep(app.scene.step - 1)),
        this.where,
        button("N ▶", "next step", () => app.goToStep(app.scene.step + 1)),
        button("▶|", "last step", () => app.goToStep(app.stepCount - 1)),
      ),
    );
    if (app.panes.length > 1)
      this.element.append(
        difference < 0
          ? el("p", { class: "same" }, "The two are the same, step by step.")
          : button(
              `first difference: step ${this.number(difference)}`,
              "G",
              () => app.goToStep(difference),
              {
                class: "difference",
              },
            ),
      );
    this.list = new LongList("Steps", app.panes.length > 1 ? 40 : 28, (i) =>
      app.goToStep(i),
    );
    this.list.element.classList.toggle("two", app.panes.length > 1);
    this.element.append(this.now);
    if (app.panes.length > 1)
      this.element.append(
        el(
          "div",
          { class: "columns" },
          ...app.panes.map((pane) => el("span", {}, pane.trace.title)),
        ),
      );
    this.element.append(this.list.element);
  }

  show(): void {
    const { app } = this;
    const { step, difference } = app.scene;
    this.where.textContent =
      step < 0 ? `${app.stepCount} steps` : `step ${this.number(step)} of ${app.stepCount}`;
    const parts = app.panes.filter((pane) => step >= 0 && step < pane.steps.count);
    this.now.replaceChildren(
      ...(step < 0
        ? [el("p", { class: "hint" }, "N and P step from one to the next.")]
        : parts.flatMap((pane) => this.stepOf(pane, step))),
    );
    const [a, b] = app.panes;
    this.list.show(app.stepCount, (i) => {
      const marks = [];
      if (i === step) marks.push("current");
      if (difference >= 0 && i >= difference)
        marks.push(i === difference ? "different first" : "after");
      const text = (pane: Pane): string => (i < pane.steps.count ? pane.steps.text(i) : "(over)");
      return {
        title: `${this.number(i)}  ${text(a)}`,
        note: b ? text(b) : "",
        mark: marks.join(" "),
      };
    });
    if (step >= 0) this.list.reveal(step);
  }

  private number(step: number): number {
    return this.app.panes.find((pane) => step < pane.steps.count)!.steps.number(step);
  }

  private stepOf(pane: Pane, step: number): HTMLElement[] {
    const { trace, steps } = pane;
    const { messages, strings } = trace;
    const out: HTMLElement[] = [];
    const begin = steps.begin(step) - trace.first;
    const at = trace.clock === "step" ? "" : `at ${momentText(trace, begin)}`;
    const title = this.app.panes.length > 1 ? trace.title : "";
    if (title || at) out.push(el("h3", {}, [title, at].filter(Boolean).join(", ")));
    const handled = steps.message(step);
    const link = (message: number): HTMLElement => {
      const name = short(strings[messages.name[message]]);
      const ticket = messages.ticket[message];
      const from = actorTitle(trace, messages.fromActor[message]);
      const to = actorTitle(trace, messages.toActor[message]);
      const element = button(
        "",
        `message ${name}`,
        () => {
          this.app.panel.show("details");
          this.app.select({ pane: pane.index, message });
        },
        { class: "link" },
      );
      element.append(
        el(
          "span",
          { class: "title" },
          `${name}${ticket ? ` t${ticket}` : ""}`,
        ),
        el("span", { class: "note" }, `${from} → ${to}`),
      );
      return element;
    };
    out.push(
      el("p", { class: "text" }, steps.text(step)),
      handled < 0 ? el("p", { class: "hint" }, "It handles no message.") : link(handled),
    );
    const pending = steps.undelivered(step);
    out.push(
      el("h3", {}, pending.length ? `Not delivered yet: ${pending.length}` : "All is delivered"),
    );
    const list = el("ol", { class: "pending" });
    for (const message of pending.slice(0, pendingShown)) list.append(el("li", {}, link(message)));
    if (pending.length > pendingShown)
      list.append(el("li", { class: "note" }, `and ${pending.length - pendingShown} more`));
    out.push(list);
    return out;
  }
}
