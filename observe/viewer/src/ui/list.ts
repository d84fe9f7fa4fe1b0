// A list of any length. Only the rows in sight are in the page. Rows are buttons of one height; arrow keys
// move within the list.
import { el } from "./dom";

export interface ListRow {
  title: string;
  note: string;
  mark?: string; // a class: "error", "lint", "current", "different"
}

export class LongList {
  readonly element: HTMLElement;
  private space: HTMLElement;
  private count = 0;
  private rowOf: (index: number) => ListRow = () => ({ title: "", note: "" });

  constructor(
    label: string,
    private height: number,
    private open: (index: number) => void,
  ) {
    this.space = el("div", { class: "space" });
    this.element = el("div", { class: "list", role: "list", "aria-label": label }, this.space);
    this.element.addEventListener("scroll", () => this.fill());
    this.element.addEventListener("keydown", (event) => this.key(event));
    new ResizeObserver(() => this.fill()).observe(this.element);
  }

  show(count: number, rowOf: (index: number) => ListRow): void {
    this.count = count;
    this.rowOf = rowOf;
    this.space.style.height = `${count * this.height}px`;
    this.fill();
  }

  reveal(index: number): void {
    const { scrollTop, clientHeight } = this.element;
    const y = index * this.height;
    if (y < scrollTop + this.height || y + 2 * this.height > scrollTop + clientHeight)
      this.element.scrollTop = y - clientHeight / 2;
    this.fill();
  }

  private fill(): void {
    const { scrollTop, clientHeight } = this.element;
    const first = Math.max(0, Math.floor(scrollTop / this.height) - 4);
    const last = Math.min(this.count, Math.ceil((scrollTop + clientHeight) / this.height) + 4);
    const active = document.activeElement as HTMLElement | null;
    const focused = this.space.contains(active) ? Number(active?.dataset.row) : -1;
    this.space.replaceChildren();
    for (let i = first; i < last; ++i) {
      const { title, note, mark } = this.rowOf(i);
      const row = el(
        "button",
        {
          type: "button",
          class: `row ${mark ?? ""}`,
          "data-row": String(i),
          title: `${title}\n${note}`,
        },
        el("span", { class: "title" }, title),
        el("span", { class: "note" }, note),
      );
      if (mark?.includes("current")) row.setAttribute("aria-current", "true");
      row.style.top = `${i * this.height}px`;
      row.style.height = `${this.height}px`;
      row.addEventListener("click", () => this.open(i));
      this.space.append(row);
      if (i === focused) row.focus({ preventScroll: true });
    }
  }

  private key(event: KeyboardEvent): void {
    const way = event.key === "ArrowDown" ? 1 : event.key === "ArrowUp" ? -1 : 0;
    const active = document.activeElement as HTMLElement | null;
    if (way === 0 || !this.space.contains(active)) return;
    event.preventDefault();
    event.stopPropagation();
    const next = Math.max(0, Math.min(this.count - 1, Number(active?.dataset.row) + way));
    this.reveal(next);
    this.space.querySelector<HTMLElement>(`[data-row="${next}"]`)?.focus({ preventScroll: true });
  }
}
