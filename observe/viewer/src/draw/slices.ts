// Text and marks on the rectangles: titles, the diamonds of outcomes and failures, outlines of selected or
// found ones. Only those in sight and large enough to read.
import { Kind, durationText, eventTitle, short } from "../data/trace";
import type { Trace } from "../data/trace";
import type { Items } from "../layout/items";
import type { Level } from "../layout/levels";
import { visibleRuns } from "../layout/levels";
import type { Sheet } from "../layout/sheet";
import type { Frame } from "./gl";
import { Shade } from "./palette";
import type { Theme } from "./palette";
import { fitted, font } from "./surface";
import type { Box } from "./surface";

type Context = CanvasRenderingContext2D;

const marksAtMost = 1500;

/** The place of an item in the pane; null: its group is collapsed, or it has no row. */
export function boxOf(items: Items, sheet: Sheet, frame: Frame, item: number): Box | null {
  const place = sheet.places[items.track[item]];
  if (items.depth[item] === 255) return null;
  const x = (items.begin[item] - frame.t0) * frame.scale;
  const width = Math.max(1, (items.end[item] - items.begin[item]) * frame.scale);
  const y = place.y + items.depth[item] * place.step - frame.scroll;
  return { x, y, width, height: place.height };
}

export function waitText(trace: Trace, wait: number): string {
  const { begin, end, text } = trace.waits;
  const length = durationText(trace, end[wait] - begin[wait]);
  const said = short(trace.strings[text[wait]]);
  return said.includes(" waits for ")
    ? said.replace(" waits for ", ` waits ${length} for `)
    : `${said} (${length})`;
}

export function itemTitle(items: Items, item: number): string {
  const { trace } = items;
  if (items.isWait(item)) return waitText(trace, item - trace.events.count);
  return eventTitle(trace, item);
}

export function drawTitles(
  context: Context,
  items: Items,
  sheet: Sheet,
  level: Level,
  frame: Frame,
  only: Set<number> | null,
): void {
  context.font = font;
  context.textBaseline = "middle";
  context.textAlign = "left";
  const { theme } = frame;
  const least = 26 / frame.scale;
  eachInSight(sheet, level, frame, only, 0, (i, y, height) => {
    const item = level.item[i];
    if (item < 0 || level.end[i] - level.begin[i] < least) return;
    const left = Math.max(0, (level.begin[i] - frame.t0) * frame.scale) + 4;
    const right = Math.min(frame.width, (level.end[i] - frame.t0) * frame.scale) - 4;
    if (right - left < 18) return;
    const text = fitted(context, itemTitle(items, item), right - left);
    if (!text) return;
    context.fillStyle = theme.ink[level.shade[i]];
    context.fillText(text, left, y + height / 2 + 0.5);
  });
}

/**
 * The rectangles of a level that are in sight, or no farther from it than `margin` pixels, on tracks whose
 * depths can be told apart. While a ticket is followed, only its rectangles.
 */
function eachInSight(
  sheet: Sheet,
  level: Level,
  frame: Frame,
  only: Set<number> | null,
  margin: number,
  visit: (i: number, y: number, height: number) => void,
): void {
  const air = margin / frame.scale;
  const end = frame.t0 + frame.width / frame.scale;
  for (const [from, to] of visibleRuns(level, frame.t0 - air, end + air))
    for (let i = from; i < to; ++i) {
      const place = sheet.places[level.track[i]];
      if (!place.shown || place.step === 0) continue;
      if (only && !only.has(level.item[i])) continue;
      const y = place.y + level.depth[i] * place.step - frame.scroll;
      if (y > frame.height + margin || y + place.height < -margin) continue;
      visit(i, y, place.height);
    }
}

/** Outcomes and lints as diamonds, failures larger: easily found at any zoom. */
export function drawMarks(
  context: Context,
  items: Items,
  sheet: Sheet,
  level: Level,
  frame: Frame,
  only: Set<number> | null,
): void {
  let drawn = 0;
  eachInSight(sheet, level, frame, only, 8, (i, y, height) => {
    if (!level.moment[i] || ++drawn > marksAtMost) return;
    const item = level.item[i];
    const x = (level.begin[i] - frame.t0) * frame.scale;
    const failure = level.shade[i] === Shade.error;
    const lint = item >= 0 && items.trace.events.kind[item] === Kind.lint;
    const size = failure ? 6 : lint ? 5 : 4.5;
    diamond(context, x, y + height / 2, size, level.shade[i], frame.theme);
  });
}

/** Lints on the events that they are about. */
export function drawLints(
  context: Context,
  items: Items,
  sheet: Sheet,
  frame: Frame,
  only: Set<number> | null,
): void {
  let drawn = 0;
  for (const { event } of items.trace.lints) {
    if (event < 0 || items.moment[event] || (only && !only.has(event))) continue;
    const box = boxOf(items, sheet, frame, event);
    const place = sheet.places[items.track[event]];
    if (!box || !place.shown || place.step === 0 || ++drawn > 500) continue;
    if (box.x < -10 || box.x > frame.width + 10 || box.y < -10 || box.y > frame.height) continue;
    diamond(context, box.x + 1, box.y + 1, 4.5, Shade.lint, frame.theme);
  }
}

function diamond(
  context: Context,
  x: number,
  y: number,
  size: number,
  shade: number,
  theme: Theme,
): void {
  context.beginPath();
  context.moveTo(x, y - size);
  context.lineTo(x + size, y);
  context.lineTo(x, y + size);
  context.lineTo(x - size, y);
  context.closePath();
  context.fillStyle = theme.shades[shade];
  context.fill();
  context.strokeStyle = theme.background;
  context.lineWidth = 1.25;
  context.stroke();
}

export function outline(context: Context, box: Box, colour: string, width: number): void {
  context.strokeStyle = colour;
  context.lineWidth = width;
  const x = Math.max(-4, box.x);
  const right = Math.min(context.canvas.width + 4, box.x + Math.max(5, box.width));
  context.strokeRect(x - 1, box.y - 1, right - x + 1, box.height + 2);
}
