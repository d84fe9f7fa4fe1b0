// One trace on the page: its layout, its two canvases (rectangles below, text and arrows above) and
// its vertical scroll. Two schedules are two panes under one axis of time.
import { Links } from "./data/links";
import { Steps } from "./data/schedule";
import { durationText } from "./data/trace";
import type { Trace } from "./data/trace";
import { Arrows } from "./draw/arrows";
import { drawRectangles } from "./draw/canvas";
import { Rectangles } from "./draw/gl";
import type { Frame } from "./draw/gl";
import type { Theme } from "./draw/palette";
import { drawRows } from "./draw/rows";
import { boxOf, drawLints, drawMarks, drawTitles, outline } from "./draw/slices";
import { begin, fitTo, surface } from "./draw/surface";
import type { Surface } from "./draw/surface";
import { Items } from "./layout/items";
import { levelFor, levelsOf, visibleCount } from "./layout/levels";
import type { Level } from "./layout/levels";
import { Sheet } from "./layout/sheet";
import type { Metrics } from "./layout/sheet";
import { arrange } from "./layout/tracks";
import { el } from "./ui/dom";
import type { View } from "./view";

/** The renderer of rectangles: the better one, or one in particular. */
export type Renderer = "auto" | "webgl" | "canvas";

export type Selection = { pane: number; item: number } | { pane: number; message: number };

/** A followed ticket: all else is dimmed. */
export interface Followed {
  pane: number;
  context: number;
  ticket: number;
  items: Set<number>;
  level: Level;
  messages: number[];
}

export interface Scene {
  view: View;
  axis: Trace; // its times are on the axis
  theme: Theme;
  selection: Selection | null;
  followed: Followed | null;
  hits: Int32Array[]; // per pane
  step: number; // -1: none
  stepping: boolean; // the step is shown: its column, and the messages in flight after it
  difference: number;
  arrows: "auto" | "all" | "none";
  paper: boolean;
  pointer: number; // place of the pointer on the time axis, NaN: elsewhere
}

const pendingDrawn = 300; // the last that were sent

export class Pane {
  readonly links: Links;
  readonly items: Items;
  readonly levels: Level[];
  readonly sheet: Sheet;
  readonly steps: Steps;
  readonly element: HTMLElement;
  readonly labels: HTMLElement;
  readonly stage: HTMLElement;
  readonly top: Surface;
  scroll = 0;
  shift = 0; // how much later than its time on the axis a thing is: for the second of two traces
  column = 0; // the width of the names
  width = 0;
  height = 0;
  usesGl = false;
  drawnRectangles = 0; // of the last frame
  private arrows: Arrows;
  private caption = el("div", { class: "caption" });
  private drawn: number[] = []; // messages whose arrows are in the picture
  private back: HTMLCanvasElement;
  private rectangles: Rectangles | null = null;
  private frame: Frame | null = null;

  constructor(
    readonly trace: Trace,
    readonly index: number,
    metrics: Metrics,
    renderer: Renderer,
  ) {
    this.links = new Links(trace);
    const tracks = arrange(trace);
    this.items = new Items(trace, tracks);
    this.levels = levelsOf(this.items, trace.first, trace.last);
    this.sheet = new Sheet(trace, tracks, this.items, metrics);
    this.arrows = new Arrows(trace, this.items);
    this.steps = new Steps(trace, this.links);
    this.back = el("canvas", { class: "back", "aria-hidden": "true" });
    const front = el("canvas", { class: "front", "aria-hidden": "true" });
    this.top = surface(front);
    this.labels = el("div", { class: "labels", role: "group", "aria-label": "Tracks" });
    this.stage = el(
      "div",
      {
        class: "stage",
        tabindex: "0",
        role: "application",
        "aria-roledescription": "timeline",
        "aria-label": `Timeline of ${trace.title}. Press ? for the keys.`,
      },
      this.back,
      front,
      this.caption,
    );
    this.element = el(
      "section",
      { class: "pane", "aria-label": trace.title },
      this.labels,
      this.stage,
    );
    if (renderer !== "canvas") {
      const count = tracks.tracks.length;
      this.rectangles = Rectangles.on(this.back, trace.first, count, renderer === "webgl");
    }
    this.usesGl = this.rectangles !== null;
    this.back.hidden = !this.usesGl;
  }

  measure(): void {
    if (this.stage.clientWidth === 0) return; // not shown: on paper
    this.column = this.labels.offsetWidth;
    this.width = Math.max(1, this.stage.clientWidth);
    this.height = Math.max(1, this.stage.clientHeight);
    this.top.width = this.width;
    this.top.height = this.height;
    fitTo(this.top.canvas, this.width, this.height);
    if (this.usesGl) fitTo(this.back, this.width, this.height);
    this.scrollTo(this.scroll);
  }

  /** The pane as on paper: on the 2D canvas alone, and finer than most screens are. */
  drawPaper(scene: Scene, ratio: number): HTMLCanvasElement {
    fitTo(this.top.canvas, this.width, this.height, ratio);
    this.draw({ ...scene, paper: true });
    return this.top.canvas;
  }

  /** Says which of two traces this is, and how it compares with the other. */
  name(): void {
    const way = this.shift > 0 ? "earlier" : "later";
    const by = durationText(this.trace, Math.abs(this.shift));
    this.caption.textContent = this.trace.title + (this.shift ? `, shown ${by} ${way}` : "");
  }

  scrollTo(y: number): void {
    this.scroll = Math.round(Math.max(0, Math.min(this.sheet.height - this.height, y)));
  }

  get scrolls(): boolean {
    return this.sheet.height > this.height;
  }

  timeAt(x: number, view: View): number {
    return view.t0 + (x / this.width) * view.span;
  }

  /** Brings an item's track into sight, opening its group. */
  reveal(item: number): void {
    this.sheet.reveal(this.items.track[item]);
    const place = this.sheet.places[this.items.track[item]];
    const y = place.y + Math.min(this.items.depth[item], 250) * place.step;
    const air = Math.min(60, this.height / 4);
    if (y - air < this.scroll) this.scrollTo(y - air);
    else if (y + place.height + air > this.scroll + this.height)
      this.scrollTo(y + place.height + air - this.height);
  }

  box(item: number): { x: number; y: number; width: number; height: number } | null {
    return this.frame && boxOf(this.items, this.sheet, this.frame, item);
  }

  draw(scene: Scene): void {
    const { view, theme } = scene;
    const followed = scene.followed?.pane === this.index ? scene.followed : null;
    const frame: Frame = (this.frame = {
      t0: view.t0 + this.shift,
      shift: this.shift,
      scale: this.width / view.span,
      width: this.width,
      height: this.height,
      scroll: this.scroll,
      dim: scene.followed ? 0.2 : 1,
      theme,
    });
    const level = levelFor(this.levels, 1 / frame.scale);
    this.drawnRectangles = visibleCount(level, frame.t0, view.t1 + this.shift);
    const context = begin(this.top);
    if (this.rectangles?.lost) this.usesGl = !(this.back.hidden = true);
    const gl = this.usesGl && !scene.paper ? this.rectangles : null;
    if (gl) {
      gl.places(this.sheet.places, this.sheet.version);
      gl.draw(level, frame, followed?.level ?? null);
    } else if (scene.paper) {
      context.fillStyle = theme.background;
      context.fillRect(0, 0, this.width, this.height);
    }
    drawRows(context, this.trace, scene.axis, this.sheet, frame);
    if (!gl) drawRectangles(context, level, this.sheet.places, frame, followed?.level ?? null);
    const only = scene.followed ? (followed?.items ?? new Set<number>()) : null;
    drawTitles(context, this.items, this.sheet, followed?.level ?? level, frame, only);
    drawMarks(context, this.items, this.sheet, followed?.level ?? level, frame, only);
    drawLints(context, this.items, this.sheet, frame, only);
    this.drawStep(context, frame, scene);
    this.drawArrows(context, frame, scene, followed);
    this.drawHits(context, frame, scene);
    this.drawSelection(context, frame, scene);
    if (!scene.paper) this.drawScrollbar(context, theme);
    if (!Number.isNaN(scene.pointer)) {
      context.fillStyle = theme.dim + "66";
      context.fillRect((scene.pointer - view.t0) * frame.scale, 0, 1, this.height);
    }
  }

  /** The thing at a point of the pane: an item, a message, or nothing. */
  hit(x: number, y: number, touch: boolean): Selection | null {
    const frame = this.frame;
    if (!frame) return null;
    const row = this.sheet.rowAt(y + this.scroll);
    const time = frame.t0 + x / frame.scale;
    const near = (touch ? 12 : 4) / frame.scale;
    const exact = row ? this.hitRow(row.kind, row.index, y + this.scroll, time, near) : -1;
    const over = exact >= 0 && this.items.begin[exact] <= time && time <= this.items.end[exact];
    if (!over) {
      const message = this.arrows.hit(this.drawn, x, y, this.sheet, frame);
      if (message >= 0) return { pane: this.index, message };
    }
    return exact >= 0 ? { pane: this.index, item: exact } : null;
  }

  private hitRow(kind: string, index: number, y: number, time: number, near: number): number {
    const { items, sheet } = this;
    if (kind === "track") {
      const place = sheet.places[index];
      const depth = Math.floor((y - place.y) / place.step);
      const rows = items.firstRow[index + 1] - items.firstRow[index];
      if (depth < 0 || depth >= rows) return -1;
      return items.at(items.firstRow[index] + depth, time, near);
    }
    if (kind !== "group" || sheet.tracks.groups[index].open) return -1;
    // Collapsed: the deepest and shortest of all items there.
    let best = -1;
    for (const track of sheet.tracks.groups[index].tracks)
      for (let row = items.firstRow[track]; row < items.firstRow[track + 1]; ++row) {
        const item = items.at(row, time, near);
        if (item < 0 || items.isWait(item)) continue;
        const shorter =
          best < 0 || items.end[item] - items.begin[item] < items.end[best] - items.begin[best];
        if (shorter) best = item;
      }
    return best;
  }

  private drawStep(context: CanvasRenderingContext2D, frame: Frame, scene: Scene): void {
    const column = (step: number, colour: string, edge: string): void => {
      if (step < 0 || step >= this.steps.count) return;
      const event = this.steps.event(step);
      const x = (this.items.begin[event] - frame.t0) * frame.scale;
      const width = Math.max(3, (this.items.end[event] - this.items.begin[event]) * frame.scale);
      context.fillStyle = colour;
      context.fillRect(x, 0, width, this.height);
      context.fillStyle = edge;
      context.fillRect(x - 1, 0, 1, this.height);
      context.fillRect(x + width, 0, 1, this.height);
    };
    const { accent, error } = frame.theme;
    if (scene.difference >= 0) column(scene.difference, error + "1c", error);
    if (!scene.stepping || scene.step < 0 || scene.step >= this.steps.count) return;
    column(scene.step, accent + "22", accent);
    const box = boxOf(this.items, this.sheet, frame, this.steps.event(scene.step));
    if (box) outline(context, box, frame.theme.text, 2.5);
  }

  private drawArrows(
    context: CanvasRenderingContext2D,
    frame: Frame,
    scene: Scene,
    followed: Followed | null,
  ): void {
    const { sheet, arrows } = this;
    const { theme } = frame;
    this.drawn = [];
    if (scene.followed) this.drawn = followed?.messages ?? [];
    else if (scene.arrows !== "none")
      this.drawn =
        arrows.inSight(sheet, frame, scene.arrows === "all" ? 4000 : this.width / 8) ?? [];
    arrows.draw(context, this.drawn, sheet, frame, theme.arrow, scene.followed !== null);
    for (const [from, to] of this.errorLinks(frame, followed))
      arrows.drawLink(context, from, to, sheet, frame);
    if (scene.stepping && scene.step >= 0 && scene.step < this.steps.count) {
      const pending = this.steps.undelivered(scene.step).slice(-pendingDrawn);
      arrows.draw(context, pending, sheet, frame, theme.accent, true);
    }
    const strong = this.selectedMessages(scene);
    arrows.draw(context, strong, sheet, frame, theme.accent, true);
    this.drawn = this.drawn.concat(strong);
  }

  /** Failures in sight and their causes. */
  private errorLinks(frame: Frame, followed: Followed | null): [number, number][] {
    const { cause, kind, begin: at } = this.trace.events;
    const links: [number, number][] = [];
    const t1 = frame.t0 + frame.width / frame.scale;
    for (const event of this.links.errors) {
      const from = cause[event];
      if (from < 0 || kind[event] !== 5 || kind[from] !== 5) continue;
      if (at[event] < frame.t0 || at[from] > t1) continue;
      if (followed && !followed.items.has(event)) continue;
      links.push([from, event]);
      if (links.length > 200) return [];
    }
    return links;
  }

  private selectedMessages(scene: Scene): number[] {
    const { selection } = scene;
    if (!selection || selection.pane !== this.index) return [];
    if ("message" in selection) return [selection.message];
    if (this.items.isWait(selection.item)) return [];
    const found = [...this.links.sent.of(selection.item)];
    for (const event of this.links.chain(selection.item))
      found.push(...this.links.received.of(event));
    return found;
  }

  private drawHits(context: CanvasRenderingContext2D, frame: Frame, scene: Scene): void {
    const hits = scene.hits[this.index];
    if (!hits || hits.length === 0) return;
    const t1 = frame.t0 + frame.width / frame.scale;
    let drawn = 0;
    for (const event of hits) {
      if (this.items.end[event] < frame.t0 || this.items.begin[event] > t1) continue;
      const box = boxOf(this.items, this.sheet, frame, event);
      if (!box || box.y > this.height || box.y + box.height < 0) continue;
      outline(context, box, frame.theme.accent, 1.25);
      if (++drawn > 1000) return;
    }
  }

  private drawSelection(context: CanvasRenderingContext2D, frame: Frame, scene: Scene): void {
    const { selection } = scene;
    if (!selection || selection.pane !== this.index || !("item" in selection)) return;
    const item = selection.item;
    const wait = this.items.isWait(item);
    const chain = wait ? [] : this.links.chain(item).slice(1);
    for (const event of chain) {
      const box = boxOf(this.items, this.sheet, frame, event);
      if (box) outline(context, box, frame.theme.accent + "aa", 1.25);
    }
    const box = boxOf(this.items, this.sheet, frame, item);
    if (box) outline(context, box, frame.theme.text, 2.5);
  }

  private drawScrollbar(context: CanvasRenderingContext2D, theme: Theme): void {
    if (!this.scrolls) return;
    const length = Math.max(24, (this.height * this.height) / this.sheet.height);
    const way = this.scroll / (this.sheet.height - this.height);
    context.fillStyle = theme.dim + "88";
    context.fillRect(this.width - 5, way * (this.height - length), 4, length);
  }
}
