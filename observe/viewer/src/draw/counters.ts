// Counters as steps over the same axis as the tracks. A library for charts would bring an axis of its own.
// The page needs a line, its highest value and the value under the pointer.
import type { Counter } from "../data/trace";
import type { Frame } from "./gl";
import { smallFont } from "./surface";

const units = ["B", "KiB", "MiB", "GiB", "TiB"];

export function valueText(counter: Counter, value: number): string {
  if (counter.unit !== "bytes")
    return `${Number(value.toPrecision(4))}${counter.unit && " " + counter.unit}`;
  let unit = 0;
  let size = value;
  while (Math.abs(size) >= 1024 && unit < units.length - 1) {
    size /= 1024;
    ++unit;
  }
  return `${Number(size.toPrecision(4))} ${units[unit]}`;
}

/** The index of the last value at or before a time; -1: none yet. */
export function valueAt(counter: Counter, time: number): number {
  let low = 0;
  let high = counter.time.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (counter.time[middle] <= time) low = middle + 1;
    else high = middle;
  }
  return low - 1;
}

const blockSize = 64;
const peaks = new WeakMap<Counter, Float64Array>();

/** The highest value of each block of values, so that a frame need not look at all of them. */
function peaksOf(counter: Counter): Float64Array {
  let known = peaks.get(counter);
  if (known === undefined) {
    known = new Float64Array(Math.ceil(counter.value.length / blockSize));
    counter.value.forEach((value, i) => {
      const block = Math.floor(i / blockSize);
      if (value > known![block]) known![block] = value;
    });
    peaks.set(counter, known);
  }
  return known;
}

/** The highest value from one on before a time, and the index of the first value after these. */
function highest(counter: Counter, from: number, time: number): [number, number] {
  const { time: times, value: values } = counter;
  const blocks = peaksOf(counter);
  let value = values[from];
  let next = from + 1;
  while (next < times.length && times[next] < time) {
    const last = next + blockSize - 1;
    const whole = next % blockSize === 0 && last < times.length && times[last] < time;
    value = Math.max(value, whole ? blocks[next / blockSize] : values[next]);
    next += whole ? blockSize : 1;
  }
  return [value, next];
}

/** Drawn as rectangles: a browser strokes a line of a thousand corners more slowly than all the rest. */
export function drawCounter(
  context: CanvasRenderingContext2D,
  counter: Counter,
  top: number,
  height: number,
  frame: Frame,
): void {
  const { theme } = frame;
  const peak = peaksOf(counter).reduce((a, b) => Math.max(a, b), 0) || 1;
  const floor = top + height - 4;
  const room = height - 12;
  const yOf = (value: number): number => floor - (Math.max(0, value) / peak) * room;
  const xOf = (i: number): number =>
    i < counter.time.length ? (counter.time[i] - frame.t0) * frame.scale : frame.width;
  const columns: [number, number, number][] = []; // from, to, y
  let i = Math.max(0, valueAt(counter, frame.t0));
  let x = Math.max(0, xOf(i));
  // Of the values in a pixel, the highest; then the last of these until there is another.
  while (i < counter.time.length && x < frame.width) {
    const column = Math.floor(x) + 1;
    const [value, next] = highest(counter, i, frame.t0 + column / frame.scale);
    const until = Math.min(frame.width, Math.max(x, xOf(next)));
    const end = next > i + 1 ? Math.min(until, column) : until;
    const y = yOf(value);
    const before = columns[columns.length - 1];
    if (before && before[2] === y) before[1] = end;
    else columns.push([x, end, y]);
    x = end;
    i = end < until ? next - 1 : next;
  }
  context.fillStyle = theme.counterFill;
  for (const [from, to, y] of columns) context.fillRect(from, y, to - from, floor - y);
  context.fillStyle = theme.counter;
  let last = floor;
  for (const [from, to, y] of columns) {
    context.fillRect(from, y - 0.5, to - from, 1);
    context.fillRect(from - 0.5, Math.min(last, y), 1, Math.abs(last - y));
    last = y;
  }
  context.font = smallFont;
  context.textBaseline = "top";
  context.textAlign = "right";
  context.fillStyle = theme.dim;
  context.fillText(`max ${valueText(counter, peak)}`, frame.width - 6, top + 2);
  context.textAlign = "left";
}
