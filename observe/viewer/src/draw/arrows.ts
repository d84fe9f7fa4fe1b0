// Messages and paths of errors as arrows. Thousands of arrows tell nothing: if more are in sight than can be
// told apart, only those of the selection or of the followed ticket are drawn.
import type { Trace } from "../data/trace";
import type { Items } from "../layout/items";
import type { Sheet } from "../layout/sheet";
import type { Frame } from "./gl";
import { boxOf } from "./slices";

type Context = CanvasRenderingContext2D;

const blockSize = 256;

export class Arrows {
  private order: Int32Array;
  private begin: Float64Array; // per message: the earlier of its two times
  private end: Float64Array;
  private blocks: { begin: number; end: number }[] = [];

  constructor(
    private trace: Trace,
    private items: Items,
  ) {
    const { count, sent, received } = trace.messages;
    this.begin = new Float64Array(count);
    this.end = new Float64Array(count);
    for (let i = 0; i < count; ++i) {
      const a = Number.isNaN(sent[i]) ? received[i] : sent[i];
      const b = Number.isNaN(received[i]) ? sent[i] : received[i];
      this.begin[i] = Math.min(a, b);
      this.end[i] = Math.max(a, b);
    }
    this.order = Int32Array.from({ length: count }, (_, i) => i).sort(
      (a, b) => this.begin[a] - this.begin[b] || a - b,
    );
    for (let from = 0; from < count; from += blockSize) {
      const block = { begin: Infinity, end: -Infinity };
      for (const i of this.order.subarray(from, from + blockSize)) {
        block.begin = Math.min(block.begin, this.begin[i]);
        block.end = Math.max(block.end, this.end[i]);
      }
      this.blocks.push(block);
    }
  }

  /** Those in sight, or null if there are too many to be read. */
  inSight(sheet: Sheet, frame: Frame, atMost: number): number[] | null {
    const found: number[] = [];
    const t1 = frame.t0 + frame.width / frame.scale;
    for (let b = 0; b < this.blocks.length; ++b) {
      if (this.blocks[b].end < frame.t0 || this.blocks[b].begin > t1) continue;
      const from = b * blockSize;
      for (const i of this.order.subarray(from, from + blockSize)) {
        if (this.end[i] < frame.t0 || this.begin[i] > t1) continue;
        const ends = this.ends(i, sheet, frame);
        if (!ends) continue;
        const top = Math.min(ends.y0, ends.y1);
        if (top > frame.height || Math.max(ends.y0, ends.y1) < 0) continue;
        found.push(i);
        if (found.length > atMost) return null;
      }
    }
    return found;
  }

  draw(
    context: Context,
    messages: Iterable<number>,
    sheet: Sheet,
    frame: Frame,
    colour: string,
    strong: boolean,
  ): void {
    const { error } = this.trace.events;
    for (const i of messages) {
      const ends = this.ends(i, sheet, frame);
      if (!ends) continue;
      const to = this.trace.messages.to[i];
      const failed = to >= 0 && error[to] !== 0;
      const paint = failed ? frame.theme.error : colour;
      const pending = Number.isNaN(this.trace.messages.received[i]);
      arrow(context, ends, paint, strong ? 2 : 1, strong ? 1 : 0.6, pending);
    }
  }

  /** An arrow between two events that no message joins: a cause. */
  drawLink(context: Context, from: number, to: number, sheet: Sheet, frame: Frame): void {
    const a = boxOf(this.items, sheet, frame, from);
    const b = boxOf(this.items, sheet, frame, to);
    if (!a || !b) return;
    const below = b.y >= a.y - flat;
    const y0 = below ? a.y + a.height : a.y;
    const y1 = Math.abs(b.y - a.y) < flat || !below ? b.y + b.height : b.y;
    const x0 = Math.min(a.x + a.width, Math.max(a.x, b.x));
    if (Math.abs(y1 - y0) < flat && b.x - x0 < 16) return; // too near to need one
    arrow(context, { x0, y0, x1: b.x, y1 }, frame.theme.error, 1.75, 1, false);
  }

  /** The message whose arrow is at a point, among the given ones; -1: none. */
  hit(messages: number[], x: number, y: number, sheet: Sheet, frame: Frame): number {
    let best = -1;
    let nearest = 5;
    for (const i of messages) {
      const ends = this.ends(i, sheet, frame);
      if (!ends) continue;
      for (let k = 0; k <= 24; ++k) {
        const [px, py] = onCurve(ends, k / 24);
        const away = Math.hypot(px - x, py - y);
        if (away < nearest) {
          nearest = away;
          best = i;
        }
      }
    }
    return best;
  }

  private ends(message: number, sheet: Sheet, frame: Frame): Ends | null {
    const { from, to, fromActor, toActor, sent, received } = this.trace.messages;
    const start = this.edge(from[message], fromActor[message], sheet, frame);
    const target = this.edge(to[message], toActor[message], sheet, frame);
    if (!start || !target) return null;
    const last = frame.t0 + frame.width / frame.scale;
    const t0 = Number.isNaN(sent[message]) ? this.begin[message] : sent[message];
    const t1 = Number.isNaN(received[message])
      ? Math.min(Math.max(last, t0), t0 + 40 / frame.scale)
      : received[message];
    // In a driven world a message leaves in the middle of its step.
    const shift = this.trace.clock === "step" ? 0.5 : 0;
    const down = target.top >= start.bottom || target.top > start.top;
    return {
      x0: (t0 + shift - frame.t0) * frame.scale,
      y0: down ? start.bottom : start.top,
      x1: (t1 + (Number.isNaN(received[message]) ? 0 : shift) - frame.t0) * frame.scale,
      y1: down ? target.top : target.bottom,
    };
  }

  private edge(
    event: number,
    actor: number,
    sheet: Sheet,
    frame: Frame,
  ): { top: number; bottom: number } | null {
    if (event >= 0) {
      const box = boxOf(this.items, sheet, frame, event);
      return box && { top: box.y, bottom: box.y + box.height };
    }
    if (actor < 0) return null;
    const place = sheet.places[sheet.tracks.trackOf[actor]];
    const top = place.y - frame.scroll;
    return { top, bottom: top + place.height };
  }
}

interface Ends {
  x0: number;
  y0: number;
  x1: number;
  y1: number;
}

const flat = 12; // a smaller difference in height is none: the arrow goes below

function bendOf(y0: number, y1: number): number {
  return Math.abs(y1 - y0) < flat ? 30 : (y1 - y0) * 0.45;
}

function onCurve({ x0, y0, x1, y1 }: Ends, t: number): [number, number] {
  const bend = bendOf(y0, y1);
  const back = Math.abs(y1 - y0) < flat ? -bend : bend;
  const u = 1 - t;
  const [a, b, c, d] = [u * u * u, 3 * u * u * t, 3 * u * t * t, t * t * t];
  return [(a + b) * x0 + (c + d) * x1, a * y0 + b * (y0 + bend) + c * (y1 - back) + d * y1];
}

function arrow(
  context: Context,
  ends: Ends,
  colour: string,
  width: number,
  alpha: number,
  pending: boolean,
): void {
  const { x0, y0, x1, y1 } = ends;
  const head = 4 + width;
  const level = Math.abs(y1 - y0) < flat;
  const bend = bendOf(y0, y1);
  const back = level ? -bend : bend;
  const way = level ? -1 : y1 >= y0 ? 1 : -1;
  context.globalAlpha = alpha;
  context.strokeStyle = context.fillStyle = colour;
  context.lineWidth = width;
  if (pending) context.setLineDash([4, 3]);
  context.beginPath();
  context.moveTo(x0, y0);
  context.bezierCurveTo(x0, y0 + bend, x1, y1 - back, x1, y1 - way * head);
  context.stroke();
  if (pending) context.setLineDash([]);
  context.beginPath();
  context.moveTo(x1, y1);
  context.lineTo(x1 - head * 0.6, y1 - way * head);
  context.lineTo(x1 + head * 0.6, y1 - way * head);
  context.closePath();
  context.fill();
  context.globalAlpha = 1;
}
