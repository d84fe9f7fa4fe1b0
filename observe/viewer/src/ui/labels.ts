// The column of names beside the tracks. Only those in sight are in the page; groups are buttons.
import type { App } from "../app";
import type { SheetRow } from "../layout/sheet";
import type { Pane } from "../pane";
import { el } from "./dom";

export class Labels {
  private shown = new Map<string, HTMLElement>();
  private state = "";

  constructor(
    private app: App,
    private pane: Pane,
  ) {}

  show(): void {
    const { pane } = this;
    const state = `${pane.scroll} ${pane.height} ${pane.sheet.version}`;
    if (state === this.state) return;
    this.state = state;
    const old = this.shown;
    this.shown = new Map();
    const rows = pane.sheet.between(pane.scroll, pane.scroll + pane.height);
    for (const row of rows) {
      const id = `${row.id} ${row.title} ${row.height} ${this.open(row)}`;
      const element = old.get(id) ?? this.make(row);
      old.delete(id);
      this.shown.set(id, element);
      element.style.transform = `translateY(${row.y - pane.scroll}px)`;
    }
    let focused = false;
    for (const element of old.values()) {
      focused ||= element === document.activeElement;
      element.remove();
    }
    // In the order of the page, which is that of the Tab key. Labels that stay are not moved and keep their
    // focus.
    let next = pane.labels.firstChild;
    for (const element of this.shown.values())
      if (element === next) next = next.nextSibling;
      else pane.labels.insertBefore(element, next);
    if (focused) this.refocus();
  }

  private toggled = -1;

  private refocus(): void {
    const row = this.pane.labels.querySelector<HTMLElement>(`[data-group="${this.toggled}"]`);
    (row ?? this.pane.stage).focus({ preventScroll: true });
  }

  private open(row: SheetRow): boolean {
    return row.kind === "group" && this.pane.sheet.tracks.groups[row.index].open;
  }

  private make(row: SheetRow): HTMLElement {
    const tag = row.kind === "group" ? "button" : "div";
    const element = el(
      tag,
      {
        class: `label ${row.kind}${row.indent ? " indent" : ""}`,
        title: `${row.title} ${row.note}`,
      },
      el("span", { class: "title" }, row.title),
      row.note ? el("span", { class: "note" }, row.note) : null,
    );
    element.style.height = `${row.height}px`;
    if (row.kind === "group") {
      element.setAttribute("type", "button");
      element.setAttribute("aria-expanded", String(this.open(row)));
      element.dataset.group = String(row.index);
      element.addEventListener("click", () => {
        this.toggled = row.index;
        this.app.toggle(this.pane, row.index);
      });
    }
    return element;
  }
}
