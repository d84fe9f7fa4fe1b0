// All rectangles, events and waits alike, as columns: time, track, row of the track, shade. Rows are numbered
// through all tracks. The items of a row are in time order and do not overlap. Hits, neighbours and merging
// rely on that.
import type { Trace } from "../data/trace";
import { Shade, shadesOf } from "../draw/palette";
import { isMoment, nest } from "./nesting";
import type { Tracks } from "./tracks";

const waitRowsAtMost = 6;

export class Items {
  readonly count: number;
  readonly begin: Float64Array;
  readonly end: Float64Array;
  readonly track: Int32Array;
  readonly depth: Uint8Array;
  readonly shade: Uint8Array;
  readonly moment: Uint8Array;
  readonly depths: Uint16Array; // per track, rows of events
  readonly waitRows: Uint16Array; // per track, rows of waits under them
  readonly firstRow: Int32Array; // per track
  readonly rows: number;
  private starts: Int32Array;
  private members: Int32Array;

  constructor(
    readonly trace: Trace,
    tracks: Tracks,
  ) {
    const { events, waits } = trace;
    const n = events.count;
    this.count = n + waits.count;
    this.begin = new Float64Array(this.count);
    this.end = new Float64Array(this.count);
    this.track = new Int32Array(this.count);
    this.depth = new Uint8Array(this.count);
    this.shade = new Uint8Array(this.count);
    this.moment = new Uint8Array(this.count);
    this.begin.set(events.begin);
    this.end.set(events.end);
    this.begin.set(waits.begin, n);
    this.end.set(waits.end, n);
    this.shade.set(shadesOf(trace));
    this.shade.fill(Shade.wait, n);
    const nesting = nest(trace, tracks.trackOf, tracks.tracks.length);
    this.depths = nesting.depths;
    for (let i = 0; i < n; ++i) {
      this.track[i] = tracks.trackOf[events.actor[i]];
      this.depth[i] = Math.min(255, nesting.depth[i]);
      this.moment[i] = Number(isMoment(trace, i));
    }
    for (let i = 0; i < waits.count; ++i) this.track[n + i] = tracks.trackOf[waits.actor[i]];
    this.waitRows = new Uint16Array(tracks.tracks.length);
    const waiting = this.placeWaits();

    this.firstRow = new Int32Array(tracks.tracks.length + 1);
    for (let t = 0; t < tracks.tracks.length; ++t)
      this.firstRow[t + 1] = this.firstRow[t] + Math.max(1, this.depths[t]) + this.waitRows[t];
    this.rows = this.firstRow[tracks.tracks.length];

    this.starts = new Int32Array(this.rows + 1);
    const inOrder = (visit: (item: number) => void): void => {
      for (let i = 0; i < n; ++i) visit(i);
      for (const item of waiting) if (this.depth[item] !== 255) visit(item);
    };
    inOrder((item) => ++this.starts[this.row(item) + 1]);
    for (let r = 0; r < this.rows; ++r) this.starts[r + 1] += this.starts[r];
    const next = this.starts.slice();
    this.members = new Int32Array(this.starts[this.rows]);
    inOrder((item) => (this.members[next[this.row(item)]++] = item));
  }

  isWait(item: number): boolean {
    return item >= this.trace.events.count;
  }

  row(item: number): number {
    return this.firstRow[this.track[item]] + this.depth[item];
  }

  inRow(row: number): Int32Array {
    return this.members.subarray(this.starts[row], this.starts[row + 1]);
  }

  /** The index in a row of the first item that begins after a time. */
  after(row: number, time: number): number {
    const list = this.inRow(row);
    let low = 0;
    let high = list.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.begin[list[middle]] <= time) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  /** The item at a time in a row, or close enough to be meant; -1: none. */
  at(row: number, time: number, tolerance: number): number {
    const list = this.inRow(row);
    const after = this.after(row, time);
    let best = -1;
    let distance = tolerance;
    // Marks are on slices of the same row: back to the slice that may hold them.
    let from = after - 1;
    while (from > 0 && from > after - 200 && this.moment[list[from]]) --from;
    for (let i = Math.max(0, from - 1); i < Math.min(list.length, after + 2); ++i) {
      const item = list[i];
      const away = Math.max(0, this.begin[item] - time, time - this.end[item]);
      // At the same distance a mark wins over the slice that it is on.
      if (away < distance || (away <= distance && (best < 0 || this.moment[item]))) {
        best = item;
        distance = away;
      }
    }
    return best;
  }

  /** The slice that a mark is on; -1: none. */
  holder(item: number): number {
    if (!this.moment[item]) return -1;
    const list = this.inRow(this.row(item));
    for (let i = list.indexOf(item) - 1; i >= 0; --i)
      if (!this.moment[list[i]]) return this.end[list[i]] >= this.begin[item] ? list[i] : -1;
    return -1;
  }

  /** Gives waits rows under the slices of their track, first fit; those beyond get none (255). */
  private placeWaits(): Int32Array {
    const n = this.trace.events.count;
    const order = Int32Array.from({ length: this.count - n }, (_, i) => n + i).sort(
      (a, b) => this.begin[a] - this.begin[b] || a - b,
    );
    const ends = new Map<number, number[]>();
    for (const item of order) {
      const track = this.track[item];
      let rows = ends.get(track);
      if (!rows) ends.set(track, (rows = []));
      let row = rows.findIndex((end) => end <= this.begin[item]);
      if (row < 0) row = rows.length;
      if (row >= waitRowsAtMost) {
        this.depth[item] = 255;
        continue;
      }
      rows[row] = this.end[item];
      this.depth[item] = Math.max(1, this.depths[track]) + row;
      this.waitRows[track] = rows.length;
    }
    return order;
  }
}
