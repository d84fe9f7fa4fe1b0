// The track of each actor, and the groups of tracks: one per band, context and kind. Actors of a large group
// that lived one after another share tracks, so that ten thousand short-lived tensors fit a screen. Actors
// without any record are together at the end of their band.
import { actorTitle, bands } from "../data/trace";
import type { Band, Trace } from "../data/trace";

export interface Track {
  actors: number[];
  title: string;
  note: string;
  group: number;
}

export interface Group {
  title: string;
  note: string;
  band: Band;
  tracks: number[];
  open: boolean;
  flat: boolean; // too small for a line of its own: its tracks stand alone
}

export interface Tracks {
  tracks: Track[];
  groups: Group[];
  trackOf: Int32Array; // per actor
}

const order = ["caller", "thread", "context", "compiler", "device", "graph", "tensor"];
const flatUpTo = 4;
const openUpTo = 12; // larger groups begin collapsed, those of tensors and graphs always
const shareFrom = 32; // this many actors and more share tracks

export function arrange(trace: Trace): Tracks {
  const keyed = new Map<string, number[]>();
  const heard = new Uint8Array(trace.actors.length);
  for (const actor of trace.events.actor) heard[actor] = 1;
  for (const actor of trace.waits.actor) heard[actor] = 1;
  trace.actors.forEach((actor, i) => {
    const place = order.indexOf(actor.kind);
    const rank = place < 0 ? order.length : place;
    const band = bands.indexOf(actor.band);
    const key = heard[i]
      ? [band, "heard", pad(actor.context + 1), pad(rank), actor.kind].join(" ")
      : `${band} idle`;
    const list = keyed.get(key);
    if (list) list.push(i);
    else keyed.set(key, [i]);
  });
  const out: Tracks = { tracks: [], groups: [], trackOf: new Int32Array(trace.actors.length) };
  for (const key of [...keyed.keys()].sort())
    addGroup(trace, out, keyed.get(key)!, key.endsWith(" idle"));
  return out;
}

const pad = (n: number): string => String(n).padStart(6, "0");

function addGroup(trace: Trace, out: Tracks, actors: number[], idle: boolean): void {
  const first = trace.actors[actors[0]];
  const of = idle ? "" : (trace.contexts[first.context] ?? "");
  const many = first.kind === "tensor" || first.kind === "graph";
  const kind = idle ? "idle" : plural(first.kind, actors.length);
  const group: Group = {
    title: `${actors.length.toLocaleString("en")} ${kind}`,
    note: of,
    band: first.band,
    tracks: [],
    open: !idle && (actors.length <= flatUpTo || (actors.length <= openUpTo && !many)),
    flat: !idle && actors.length <= flatUpTo,
  };
  const sorted = [...actors].sort(
    (a, b) =>
      trace.actors[a].lane - trace.actors[b].lane || start(trace, a) - start(trace, b) || a - b,
  );
  const rows = actors.length >= shareFrom ? shared(trace, sorted) : sorted.map((one) => [one]);
  for (const row of rows) {
    const track = out.tracks.length;
    const more = row.length > 1 ? ` +${row.length - 1}` : "";
    out.tracks.push({
      actors: row,
      title: actorTitle(trace, row[0]) + more,
      note: actorTitle(trace, row[0]).includes(`'${of}'`) ? "" : of,
      group: out.groups.length,
    });
    group.tracks.push(track);
    for (const actor of row) out.trackOf[actor] = track;
  }
  out.groups.push(group);
}

const start = (trace: Trace, actor: number): number => trace.actors[actor].start;

/** First fit by begin, as few tracks as overlap at any moment. */
function shared(trace: Trace, sorted: number[]): number[][] {
  const rows: number[][] = [];
  const ends: number[] = [];
  const last = lastActivity(trace);
  for (const actor of sorted) {
    const begin = trace.actors[actor].start;
    let row = ends.findIndex((end) => end <= begin);
    if (row < 0) row = rows.push([]) - 1;
    rows[row].push(actor);
    ends[row] = Math.max(trace.actors[actor].end, last[actor]);
  }
  return rows;
}

/** A release under way may follow an actor's end: its track is free only after that. */
function lastActivity(trace: Trace): Float64Array {
  const last = new Float64Array(trace.actors.length);
  const { actor, end, count } = trace.events;
  for (let i = 0; i < count; ++i) if (end[i] > last[actor[i]]) last[actor[i]] = end[i];
  return last;
}

export function plural(word: string, count: number): string {
  if (count === 1) return word;
  return word === "device" ? "lanes" : `${word}s`;
}
