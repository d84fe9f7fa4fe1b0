// The help on keys and pointers, made from the keys' own table.
import { button, el, find } from "./dom";

interface Entry {
  shown: string;
  text: string;
  section: string;
}

const pointers: Entry[] = [
  { shown: "drag", text: "move", section: "Pointer" },
  { shown: "wheel", text: "scroll tracks; zoom where nothing scrolls", section: "Pointer" },
  { shown: "Ctrl+wheel, pinch", text: "zoom", section: "Pointer" },
  { shown: "Shift+wheel", text: "earlier, later", section: "Pointer" },
  { shown: "Shift+drag", text: "zoom into what is marked", section: "Pointer" },
  { shown: "double click", text: "zoom to an event", section: "Pointer" },
];

export class Help {
  private dialog = el("dialog", { class: "help", "aria-label": "Keys and pointers" });

  constructor(table: Entry[]) {
    const all = [...table, ...pointers];
    const sections = [...new Set(all.map((one) => one.section))];
    const close = button("Close", "Close", () => this.dialog.close(), { class: "close" });
    this.dialog.append(
      el("h2", {}, "Keys and pointers"),
      el(
        "div",
        { class: "sections" },
        ...sections.map((section) =>
          el(
            "section",
            {},
            el("h3", {}, section),
            el(
              "dl",
              {},
              ...all
                .filter((one) => one.section === section)
                .flatMap((one) => [el("dt", {}, el("kbd", {}, one.shown)), el("dd", {}, one.text)]),
            ),
          ),
        ),
      ),
      el("p", { class: "hint" }, "Search: words of labels, actors and errors; t:12 is ticket 12."),
      close,
    );
    this.dialog.addEventListener("click", (event) => {
      if (event.target === this.dialog) this.dialog.close();
    });
    this.dialog.addEventListener("keydown", (event) => {
      if (event.key === "?") this.dialog.close();
    });
    find("body").append(this.dialog);
  }

  show(): void {
    this.dialog.showModal();
  }
}
