// The parts under the slices: the grid of time, bands, lines between tracks, lives of actors, counters.
import type { Trace } from "../data/trace";
import type { Sheet } from "../layout/sheet";
import { drawCounter } from "./counters";
import type { Frame } from "./gl";
import { ticks } from "./surface";

type Context = CanvasRenderingContext2D;

/** `axis`: the trace whose times the axis shows; of two the first. */
export function drawRows(
  context: Context,
  trace: Trace,
  axis: Trace,
  sheet: Sheet,
  frame: Frame,
): void {
  const { theme } = frame;
  context.fillStyle = theme.grid;
  const t0 = frame.t0 - frame.shift;
  for (const time of marks(t0, t0 + frame.width / frame.scale, frame.width, axis))
    context.fillRect(Math.round((time - t0) * frame.scale), 0, 1, frame.height);
  for (const row of sheet.between(frame.scroll, frame.scroll + frame.height)) {
    const y = row.y - frame.scroll;
    if (row.kind === "band") {
      context.fillStyle = theme.band;
      context.fillRect(0, y, frame.width, row.height - 1);
    } else {
      context.fillStyle = theme.grid;
      context.fillRect(0, y + row.height - 1, frame.width, 1);
    }
    if (row.kind === "counter")
      drawCounter(context, trace.counters[row.index], y, row.height, frame);
    if (row.kind === "track") {
      const { actors } = sheet.tracks.tracks[row.index];
      for (const actor of actors) drawLife(context, trace, actor, frame, y + row.height - 3);
    }
  }
}

/** A line while an actor lives, if it was born or died in the trace. */
function drawLife(context: Context, trace: Trace, actor: number, frame: Frame, y: number): void {
  const { start, end } = trace.actors[actor];
  if (start <= trace.first && end >= trace.last) return; // it was always there
  const from = Math.max(0, (start - frame.t0) * frame.scale);
  const to = Math.min(frame.width, (Math.min(end, trace.last) - frame.t0) * frame.scale);
  context.fillStyle = frame.theme.life;
  if (to > from) context.fillRect(from, y, to - from, 2);
}

/** The marks of the axis of time: of the trace's clock, about a hundred pixels apart. */
export function marks(t0: number, t1: number, width: number, trace: Trace): number[] {
  const from = trace.clock === "step" ? 0 : trace.first;
  const atMost = Math.max(3, width / 110);
  const found = ticks(t0 - from, t1 - from, atMost, trace.clock === "step");
  return found.map((time) => time + from);
}
