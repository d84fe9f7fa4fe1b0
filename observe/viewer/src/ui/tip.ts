// The thing under the pointer, in a few words beside it. The details have all of it, for users without a
// pointer.
import type { App } from "../app";
import { actorTitle, short, ticketTitle } from "../data/trace";
import type { Selection } from "../pane";
import { el, find } from "./dom";

export class Tip {
  private element = el("div", { class: "tip", "aria-hidden": "true" });

  constructor(private app: App) {
    this.element.hidden = true;
    find("body").append(this.element);
  }

  show(hit: Selection, x: number, y: number): void {
    const { trace, items, links } = this.app.panes[hit.pane];
    const lines: (Node | string)[] = [el("b", {}, this.app.describe(hit))];
    if ("message" in hit) {
      const { fromActor, toActor } = trace.messages;
      const [from, to] = [fromActor[hit.message], toActor[hit.message]];
      lines.push(el("span", {}, `${actorTitle(trace, from)} → ${actorTitle(trace, to)}`));
    } else if (!items.isWait(hit.item)) {
      const { ticket, context, error, actor, detail } = trace.events;
      lines.push(el("span", {}, actorTitle(trace, actor[hit.item])));
      if (ticket[hit.item])
        lines.push(el("span", {}, ticketTitle(trace, context[hit.item], ticket[hit.item])));
      if (detail[hit.item]) lines.push(el("span", {}, short(trace.strings[detail[hit.item]])));
      const text = short(trace.strings[error[hit.item]].split("\n")[0]);
      if (text) lines.push(el("span", { class: "bad" }, text));
      for (const lint of links.lints.of(hit.item))
        lines.push(el("span", { class: "warn" }, short(trace.lints[lint].text)));
    }
    this.element.replaceChildren(...lines);
    this.element.hidden = false;
    const { offsetWidth, offsetHeight } = this.element;
    const left = Math.min(x + 14, innerWidth - offsetWidth - 6);
    const below = y + 18 + offsetHeight < innerHeight;
    this.element.style.left = `${Math.max(4, left)}px`;
    this.element.style.top = `${below ? y + 18 : y - offsetHeight - 10}px`;
  }

  hide(): void {
    this.element.hidden = true;
  }
}
