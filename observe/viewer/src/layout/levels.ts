// The same picture in coarser and coarser grains. In each level items smaller than a grain are merged with
// their neighbours of the same row. So a frame draws about one rectangle for each pixel and row of any trace.
// Errors are never merged away: a merged rectangle with one is an error.
import { firstError, shades } from "../draw/palette";
import type { Items } from "./items";

export interface Level {
  grain: number; // no merged item is longer; 0: nothing is merged
  count: number;
  begin: Float64Array;
  end: Float64Array;
  item: Int32Array; // -1: merged of several
  track: Int32Array;
  depth: Uint8Array;
  shade: Uint8Array;
  cover: Uint8Array; // the covered part of a merged rectangle, 255: all
  moment: Uint8Array;
  blocks: Block[];
}

/**
 * Rectangles from..to of a level lie between two times, so that those out of sight can be skipped.
 */
export interface Block {
  from: number;
  to: number;
  begin: number;
  end: number;
}

const blockSize = 1024;
const finest = 26; // grains down to 2^-26 of the trace

export function levelsOf(items: Items, first: number, last: number): Level[] {
  const levels = [finish(plain(items), first, last)];
  const length = last - first;
  for (let fine = finest; fine >= 10; fine -= fine > 14 ? 2 : 1) {
    const before = levels[levels.length - 1];
    const merged = merge(items, length / 2 ** fine);
    if (merged.count < before.count * 0.7) levels.push(finish(merged, first, last));
  }
  return levels;
}

/** The coarsest level whose grain is no more than a pixel. */
export function levelFor(levels: Level[], timePerPixel: number): Level {
  for (let i = levels.length - 1; i > 0; --i) if (levels[i].grain <= timePerPixel) return levels[i];
  return levels[0];
}

function empty(grain: number, size: number): Level {
  return {
    grain,
    count: 0,
    begin: new Float64Array(size),
    end: new Float64Array(size),
    item: new Int32Array(size),
    track: new Int32Array(size),
    depth: new Uint8Array(size),
    shade: new Uint8Array(size),
    cover: new Uint8Array(size),
    moment: new Uint8Array(size),
    blocks: [],
  };
}

function plain(items: Items): Level {
  return merge(items, 0);
}

/** Adds an item as a rectangle of its own; returns its index. */
function add(out: Level, items: Items, item: number): number {
  const at = out.count++;
  out.begin[at] = items.begin[item];
  out.end[at] = items.end[item];
  out.item[at] = item;
  out.track[at] = items.track[item];
  out.depth[at] = items.depth[item];
  out.shade[at] = items.shade[item];
  out.cover[at] = 255;
  out.moment[at] = items.moment[item];
  return at;
}

/** One pass over the rows. The item that covers most gives its shade, an error before any other. */
function merge(items: Items, grain: number): Level {
  const out = empty(grain, items.count);
  for (let row = 0; row < items.rows; ++row) {
    let open = -1; // the rectangle that may still grow
    let covered = 0;
    let longest = 0;
    const close = (): void => {
      if (open < 0 || out.item[open] >= 0) return;
      const part = covered / (out.end[open] - out.begin[open] || 1);
      out.cover[open] = Math.max(96, Math.min(255, Math.round(part * 255)));
    };
    for (const item of items.inRow(row)) {
      const begin = items.begin[item];
      const end = items.end[item];
      if (open >= 0 && end - out.begin[open] <= grain) {
        out.item[open] = -1;
        out.moment[open] &= items.moment[item];
        if (end > out.end[open]) out.end[open] = end;
        covered += end - begin;
        const shade = items.shade[item];
        const stronger = shade >= firstError && shade > out.shade[open];
        if (stronger || (out.shade[open] < firstError && end - begin > longest)) {
          out.shade[open] = shade;
          longest = end - begin;
        }
        continue;
      }
      close();
      const at = add(out, items, item);
      covered = longest = end - begin;
      open = end - begin <= grain ? at : -1;
    }
    close();
  }
  return out;
}

/**
 * Sorts by time, roughly, and by shade within a stretch of it, since a change of colour costs the 2D canvas
 * more than a rectangle. Errors and marks come last and so on top. Notes in blocks what is where.
 */
function finish(level: Level, first: number, last: number): Level {
  const bins = Math.max(1, Math.ceil(level.count / 512));
  const scale = (bins - 1) / (last - first || 1);
  const binOf = (i: number): number => {
    const bin = Math.max(0, Math.min(bins - 1, Math.floor((level.begin[i] - first) * scale)));
    const onTop = level.shade[i] >= firstError || level.moment[i] !== 0;
    return (bin + (onTop ? bins : 0)) * shades + level.shade[i];
  };
  const keys = 2 * bins * shades;
  const starts = new Int32Array(keys + 1);
  for (let i = 0; i < level.count; ++i) ++starts[binOf(i) + 1];
  for (let b = 0; b < keys; ++b) starts[b + 1] += starts[b];
  const out = empty(level.grain, level.count);
  out.count = level.count;
  for (let i = 0; i < level.count; ++i) {
    const at = starts[binOf(i)]++;
    out.begin[at] = level.begin[i];
    out.end[at] = level.end[i];
    out.item[at] = level.item[i];
    out.track[at] = level.track[i];
    out.depth[at] = level.depth[i];
    out.shade[at] = level.shade[i];
    out.cover[at] = level.cover[i];
    out.moment[at] = level.moment[i];
  }
  for (let from = 0; from < out.count; from += blockSize) {
    const to = Math.min(out.count, from + blockSize);
    let begin = Infinity;
    let end = -Infinity;
    for (let i = from; i < to; ++i) {
      if (out.begin[i] < begin) begin = out.begin[i];
      if (out.end[i] > end) end = out.end[i];
    }
    out.blocks.push({ from, to, begin, end });
  }
  return out;
}

/** Runs of rectangles that can be in sight. */
export function visibleRuns(level: Level, begin: number, end: number): [number, number][] {
  const runs: [number, number][] = [];
  for (const block of level.blocks) {
    if (block.end < begin || block.begin > end) continue;
    const last = runs[runs.length - 1];
    if (last && last[1] === block.from) last[1] = block.to;
    else runs.push([block.from, block.to]);
  }
  return runs;
}

/** The number of rectangles that a frame of a level draws. */
export function visibleCount(level: Level, begin: number, end: number): number {
  return visibleRuns(level, begin, end).reduce((sum, [from, to]) => sum + to - from, 0);
}

/** A level of a few items only: the followed ones, drawn over the rest. */
export function levelOf(items: Items, chosen: number[]): Level {
  const out = empty(0, chosen.length);
  for (const item of chosen) {
    if (items.depth[item] === 255) continue;
    add(out, items, item);
  }
  if (out.count > 0) out.blocks.push({ from: 0, to: out.count, begin: -Infinity, end: Infinity });
  return out;
}
