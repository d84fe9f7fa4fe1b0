// The head of the page: search, zoom, arrows, light and dark, help.
import type { App } from "../app";
import { themes } from "../draw/palette";
import { find } from "./dom";
import { Help } from "./help";
import { keyTable, listen } from "./keys";

export class Toolbar {
  private search = find<HTMLInputElement>("#search");
  private count = find<HTMLElement>("#hits");
  private dark = matchMedia("(prefers-color-scheme: dark)");
  private chosen: "light" | "dark" | null = null;

  constructor(private app: App) {
    const table = keyTable({
      help: () => help.show(),
      theme: () => this.switchTheme(),
      arrows: () => this.switchArrows(),
    });
    const help = new Help(table);
    listen(app, table);
    find("#title").textContent = app.panes.map((pane) => pane.trace.title).join(" | ");
    this.on("#zoom-in", () => app.view.zoom(0.6));
    this.on("#zoom-out", () => app.view.zoom(1 / 0.6));
    this.on("#fit", () => app.view.fit());
    this.on("#arrows", () => this.switchArrows());
    this.on("#theme", () => this.switchTheme());
    this.on("#side", () => {
      app.panel.toggle();
      app.measure();
    });
    this.on("#help", () => help.show());
    this.on("#next", () => this.go(1));
    this.on("#previous", () => this.go(-1));
    this.search.addEventListener("input", () => {
      app.find(this.search.value);
      this.showCount();
    });
    this.search.addEventListener("keydown", (event) => this.key(event));
    this.dark.addEventListener("change", () => this.showTheme());
    this.showTheme();
    this.showCount();
  }

  private on(selector: string, click: () => void): void {
    find(selector).addEventListener("click", click);
  }

  private key(event: KeyboardEvent): void {
    if (event.key === "Enter") {
      event.preventDefault();
      this.go(event.shiftKey ? -1 : 1);
    } else if (event.key === "Escape") {
      if (this.search.value === "") this.app.panes[this.app.active].stage.focus();
      this.search.value = "";
      this.app.find("");
      this.showCount();
    }
  }

  private go(way: number): void {
    this.app.nextHit(way);
    this.showCount();
  }

  private showCount(): void {
    const { hits, hit, query } = this.app;
    const total = hits.toLocaleString("en");
    this.count.textContent =
      query === ""
        ? ""
        : hits === 0
          ? "none"
          : hit < 0
            ? total
            : `${(hit + 1).toLocaleString("en")} of ${total}`;
    this.search.classList.toggle("counted", query !== "");
    for (const selector of ["#next", "#previous"])
      find<HTMLButtonElement>(selector).disabled = hits === 0;
  }

  private switchTheme(): void {
    this.chosen = this.app.scene.theme.dark ? "light" : "dark";
    this.showTheme();
  }

  private showTheme(): void {
    const name = this.chosen ?? (this.dark.matches ? "dark" : "light");
    document.documentElement.dataset.theme = name;
    this.app.scene.theme = themes[name];
    find("#theme").setAttribute("aria-pressed", String(name === "dark"));
    const style = document.documentElement.style;
    const { shades } = this.app.scene.theme;
    const swatches = {
      call: 0,
      handling: 1,
      dispatch: 4,
      write: 5,
      read: 6,
      step: 10,
      wait: 20,
      notrun: 21,
      failed: 22,
    };
    for (const [swatch, at] of Object.entries(swatches))
      style.setProperty(`--${swatch}`, shades[at]);
    this.app.invalidate();
  }

  private switchArrows(): void {
    const modes = ["auto", "all", "none"] as const;
    const { scene } = this.app;
    scene.arrows = modes[(modes.indexOf(scene.arrows) + 1) % modes.length];
    const text = { auto: "arrows: few", all: "arrows: all", none: "arrows: none" }[scene.arrows];
    find("#arrows").setAttribute("title", `${text} (X)`);
    find("#arrows").setAttribute("aria-label", text);
    find("#arrows").dataset.mode = scene.arrows;
    this.app.announce(text);
    this.app.invalidate();
  }
}
