// Counters as steps over the same axis as the tracks. A library for charts would bring an axis of
// its own; what is needed is a line, its highest value and the value under the pointer.
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

/** Where the last value is that was told at or before a time; -1: none yet. */
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

const peaks = new WeakMap<Counter, number>();

function peakOf(counter: Counter): number {
  let peak = peaks.get(counter);
  if (peak === undefined) {
    peak = 0;
    for (const value of counter.value) if (value > peak) peak = value;
    peaks.set(counter, peak);
  }
  return peak;
}

export function drawCounter(
  context: CanvasRenderingContext2D,
  counter: Counter,
  top: number,
  height: number,
  frame: Frame,
): void {
  const { theme } = frame;
  const peak = peakOf(counter) || 1;
  const floor = top + height - 4;
  const room = height - 12;
  const yOf = (value: number): number => floor - (Math.max(0, value) / peak) * room;
  const count = counter.time.length;
  let i = Math.max(0, valueAt(counter, frame.t0));
  context.beginPath();
  let x = Math.max(0, count ? (counter.time[i] - frame.t0) * frame.scale : 0);
  context.moveTo(x, floor);
  // One column a pixel: of what is in it, the highest.
  while (i < count && x <= frame.width) {
    let value = counter.value[i];
    let next = i + 1;
    const column = Math.floor(x) + 1;
    let nextX = next < count ? (counter.time[next] - frame.t0) * frame.scale : frame.width;
    while (next < count && nextX < column) {
      if (counter.value[next] > value) value = counter.value[next];
      ++next;
      nextX = next < count ? (counter.time[next] - frame.t0) * frame.scale : frame.width;
    }
    const end = Math.min(frame.width, nextX);
    context.lineTo(x, yOf(value));
    context.lineTo(end, yOf(value));
    x = end;
    if (next >= count) break;
    i = next;
  }
  context.lineTo(x, floor);
  context.fillStyle = theme.counterFill;
  context.fill();
  context.strokeStyle = theme.counter;
  context.lineWidth = 1.25;
  context.stroke();
  context.font = smallFont;
  context.textBaseline = "top";
  context.textAlign = "right";
  context.fillStyle = theme.dim;
  context.fillText(`max ${valueText(counter, peak)}`, frame.width - 6, top + 2);
  context.textAlign = "left";
}
