// The strip above the tracks: all of the trace with the part in sight, and the axis of time.
import type { App } from "../app";
import { Kind, bands, markText, momentText, nanoseconds } from "../data/trace";
import { begin, fitTo, smallFont, surface } from "../draw/surface";
import { marks } from "../draw/rows";
import type { Pane } from "../pane";
import { find } from "./dom";

const buckets = 512;

export class Overview {
  private map = surface(find<HTMLCanvasElement>("#map"));
  private ruler = surface(find<HTMLCanvasElement>("#ruler"));
  private sight = find<HTMLElement>("#sight");
  private density: Float32Array[]; // per band: how busy each bucket is, 0 to 1
  private errors: Uint8Array;

  constructor(private app: App) {
    this.density = bands.map(() => new Float32Array(buckets));
    this.errors = new Uint8Array(buckets);
    for (const pane of app.panes) this.count(pane);
    for (const list of this.density) {
      const most = Math.max(...list) || 1;
      list.forEach((value, i) => (list[i] = Math.sqrt(value / most)));
    }
    this.listen();
  }

  measure(): void {
    for (const one of [this.map, this.ruler]) {
      if (one.canvas.clientWidth === 0) continue; // not shown: on paper
      one.width = Math.max(1, one.canvas.clientWidth);
      one.height = Math.max(1, one.canvas.clientHeight);
      fitTo(one.canvas, one.width, one.height);
    }
  }

  drawPaper(ratio: number): HTMLCanvasElement {
    fitTo(this.ruler.canvas, this.ruler.width, this.ruler.height, ratio);
    this.drawRuler();
    return this.ruler.canvas;
  }

  draw(): void {
    this.drawMap();
    this.drawRuler();
  }

  private count(pane: Pane): void {
    const { events, actors } = pane.trace;
    const { first, last } = this.app.view;
    const scale = buckets / (last - first);
    const place = (time: number): number =>
      Math.max(0, Math.min(buckets - 1, Math.floor((time - first) * scale)));
    for (let i = 0; i < events.count; ++i) {
      if (events.kind[i] === Kind.step) continue;
      const list = this.density[bands.indexOf(actors[events.actor[i]].band)];
      const from = place(events.begin[i]);
      const to = place(events.end[i]);
      for (let b = from; b <= to; ++b) {
        const inside =
          Math.min(events.end[i], first + (b + 1) / scale) -
          Math.max(events.begin[i], first + b / scale);
        list[b] += Math.max(0, inside);
      }
    }
    for (const event of pane.links.errors) this.errors[place(events.begin[event])] = 1;
  }

  private drawMap(): void {
    const { width, height } = this.map;
    const { theme, hits, selection } = this.app.scene;
    const { first, last, t0, t1 } = this.app.view;
    const context = begin(this.map);
    const row = (height - 4) / bands.length;
    const column = width / buckets;
    const colours = [theme.shades[0], theme.shades[1], theme.shades[4]];
    this.density.forEach((list, band) => {
      context.fillStyle = colours[band];
      for (let b = 0; b < buckets; ++b) {
        if (list[b] === 0) continue;
        const tall = Math.max(1, list[b] * (row - 1));
        context.fillRect(b * column, 2 + (band + 1) * row - tall, column + 0.5, tall);
      }
    });
    context.fillStyle = theme.error;
    for (let b = 0; b < buckets; ++b)
      if (this.errors[b]) context.fillRect(b * column, 0, Math.max(2, column), height);
    const xOf = (time: number): number => ((time - first) / (last - first)) * width;
    const { panes } = this.app;
    context.fillStyle = theme.accent;
    hits.forEach((list, pane) => {
      const { begin: at } = panes[pane].items;
      const step = Math.max(1, Math.floor(list.length / 2000));
      for (let i = 0; i < list.length; i += step) context.fillRect(xOf(at[list[i]]), 0, 1.5, 4);
    });
    if (selection && "item" in selection) {
      context.fillStyle = theme.text;
      context.fillRect(xOf(panes[selection.pane].items.begin[selection.item]) - 1, 0, 2, height);
    }
    const left = Math.max(0, xOf(t0));
    const right = Math.min(width, xOf(t1));
    context.fillStyle = theme.dark ? "#12161c99" : "#ffffffa0";
    context.fillRect(0, 0, left, height);
    context.fillRect(right, 0, width - right, height);
    context.strokeStyle = theme.accent;
    context.lineWidth = 1.5;
    context.strokeRect(left + 0.75, 0.75, Math.max(3, right - left - 1.5), height - 1.5);
  }

  private drawRuler(): void {
    const { width, height } = this.ruler;
    const { theme, pointer } = this.app.scene;
    const { view, trace } = this.app;
    const context = begin(this.ruler);
    const scale = width / view.span;
    context.font = smallFont;
    context.textBaseline = "middle";
    context.fillStyle = theme.dim;
    const from = trace.clock === "step" ? 0 : trace.first;
    this.sight.textContent =
      trace.clock === "step" ? `${Math.round(view.span)} steps` : nanoseconds(view.span);
    const times = marks(view.t0, view.t1, width, trace);
    const step = times.length > 1 ? times[1] - times[0] : view.span;
    for (const time of times) {
      const x = (time - view.t0) * scale;
      context.fillRect(Math.round(x), height - 5, 1, 5);
      if (x > -2 && x < width - 20)
        context.fillText(markText(trace, time - from, step), x + 4, height / 2);
    }
    if (!(pointer >= view.t0 && pointer <= view.t1)) return; // NaN: there is none
    const text = momentText(
      trace,
      trace.clock === "step" ? Math.floor(pointer) : Math.round(pointer - from),
    );
    const x = (pointer - view.t0) * scale;
    const wide = context.measureText(text).width + 10;
    const left = Math.max(0, Math.min(width - wide, x - wide / 2));
    context.fillStyle = theme.text;
    context.fillRect(left, 1, wide, height - 3);
    context.fillStyle = theme.background;
    context.fillText(text, left + 5, height / 2);
  }

  private listen(): void {
    const { canvas } = this.map;
    const { view } = this.app;
    const move = (event: PointerEvent): void => {
      const part = event.offsetX / this.map.width;
      const middle = view.first + part * (view.last - view.first);
      view.set(middle - view.span / 2, middle + view.span / 2);
    };
    canvas.addEventListener("pointerdown", (event) => {
      canvas.setPointerCapture(event.pointerId);
      move(event);
    });
    canvas.addEventListener("pointermove", (event) => {
      if (canvas.hasPointerCapture(event.pointerId)) move(event);
    });
    for (const { canvas: one } of [this.map, this.ruler])
      one.addEventListener(
        "wheel",
        (event) => {
          event.preventDefault();
          const at = view.t0 + (event.offsetX / one.clientWidth) * view.span;
          view.zoom(Math.exp(event.deltaY * 0.002), one === this.map.canvas ? undefined : at);
        },
        { passive: false },
      );
  }
}
