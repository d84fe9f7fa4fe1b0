// The places of tracks on the sheet that is scrolled: bands, groups and their tracks from top to bottom, then
// counters. Opening a group changes only the numbers per track. Rectangles look their track up, so they stay
// as they are.
import { bands, short } from "../data/trace";
import type { Band, Trace } from "../data/trace";
import type { Items } from "./items";
import type { Tracks } from "./tracks";

export interface SheetRow {
  kind: "band" | "group" | "track" | "counter";
  id: string;
  title: string;
  note: string;
  y: number;
  height: number;
  index: number; // of the group, the track or the counter
  indent: boolean;
}

/**
 * The drawing of tracks: a slice's y is y + depth * step; step 0 draws all depths as one density.
 */
export interface Place {
  y: number;
  step: number;
  height: number;
  shown: boolean;
  least: number; // of a collapsed group: the least strength of a rectangle that covers almost nothing
}

export interface Metrics {
  slice: number;
  band: number;
  group: number;
  density: number;
  counter: number;
  pad: number;
}

export const fine: Metrics = { slice: 17, band: 20, group: 22, density: 26, counter: 44, pad: 4 };
export const coarse: Metrics = { slice: 22, band: 20, group: 34, density: 34, counter: 44, pad: 4 };

const bandTitles: Record<Band, [string, string]> = {
  callers: ["Callers", ""],
  content: ["Content", "timeline"],
  device: ["Device", "timeline"],
};

export class Sheet {
  rows: SheetRow[] = [];
  places: Place[] = [];
  height = 0;
  version = 0; // grows with every change
  private only: Set<number> | null = null;

  constructor(
    private trace: Trace,
    readonly tracks: Tracks,
    private items: Items,
    readonly metrics: Metrics,
  ) {
    this.arrange();
  }

  toggle(group: number): void {
    this.tracks.groups[group].open = !this.tracks.groups[group].open;
    this.arrange();
  }

  /** Only some tracks, those of a ticket that is followed; null: all again. */
  focus(tracks: Set<number> | null): void {
    this.only = tracks;
    this.arrange();
  }

  /** Makes a track visible on its own. */
  reveal(track: number): void {
    const group = this.tracks.groups[this.tracks.tracks[track].group];
    const hidden = this.only ? !this.only.has(track) : !group.open;
    if (!hidden) return;
    this.only = null;
    group.open = true;
    this.arrange();
  }

  setAll(open: boolean): void {
    for (const group of this.tracks.groups) group.open = open || group.flat;
    this.arrange();
  }

  /** The rows between two heights. */
  between(top: number, bottom: number): SheetRow[] {
    let low = 0;
    let high = this.rows.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.rows[middle].y + this.rows[middle].height <= top) low = middle + 1;
      else high = middle;
    }
    const found: SheetRow[] = [];
    for (let i = low; i < this.rows.length && this.rows[i].y < bottom; ++i)
      found.push(this.rows[i]);
    return found;
  }

  rowAt(y: number): SheetRow | undefined {
    return this.between(y, y + 0.01)[0];
  }

  private arrange(): void {
    const { tracks, groups } = this.tracks;
    this.rows = [];
    this.height = 0;
    this.places = tracks.map(() => ({ y: 0, step: 0, height: 0, shown: false, least: 1 }));
    for (const band of bands) {
      const inBand = groups.map((_, i) => i).filter((i) => groups[i].band === band);
      if (inBand.length === 0 || !inBand.some((group) => this.shows(group))) continue;
      const [title, note] = bandTitles[band];
      this.add("band", band, title, note, this.metrics.band, 0, false);
      for (const group of inBand) this.addGroup(group);
    }
    if (this.trace.counters.length > 0 && !this.only) {
      this.add("band", "counters", "Counters", "", this.metrics.band, 0, false);
      this.trace.counters.forEach((counter, i) => {
        const of = this.trace.contexts[counter.context] ?? "";
        this.add("counter", `c${i}`, short(counter.name), of, this.metrics.counter, i, false);
      });
    }
    ++this.version;
  }

  private shows(group: number): boolean {
    const { only } = this;
    return !only || this.tracks.groups[group].tracks.some((track) => only.has(track));
  }

  private addGroup(index: number): void {
    const group = this.tracks.groups[index];
    const { only } = this;
    if (only) {
      for (const track of group.tracks) if (only.has(track)) this.addTrack(track, false);
      return;
    }
    const alone = group.flat;
    if (!alone) {
      const height = group.open ? this.metrics.group : this.metrics.density;
      const row = this.add("group", `g${index}`, group.title, group.note, height, index, false);
      if (!group.open) {
        const least = Math.max(0.15, Math.min(1, 8 / group.tracks.length));
        const place = { y: row.y + 4, step: 0, height: height - 9, shown: true, least };
        for (const track of group.tracks) this.places[track] = place;
        return;
      }
    }
    for (const track of group.tracks) this.addTrack(track, !alone);
  }

  private addTrack(track: number, indent: boolean): void {
    const { slice, pad } = this.metrics;
    const { title, note } = this.tracks.tracks[track];
    const depths = Math.max(1, this.items.depths[track]) + this.items.waitRows[track];
    const height = depths * slice + 2 * pad;
    const row = this.add("track", `t${track}`, title, indent ? "" : note, height, track, indent);
    const y = row.y + pad;
    this.places[track] = { y, step: slice, height: slice - 2, shown: true, least: 1 };
  }

  private add(
    kind: SheetRow["kind"],
    id: string,
    title: string,
    note: string,
    height: number,
    index: number,
    indent: boolean,
  ): SheetRow {
    const row = { kind, id, title, note, y: this.height, height, index, indent };
    this.rows.push(row);
    this.height += height;
    return row;
  }
}
