// The colours of slices, as indexes that are the same in light and dark, and the choice for each slice.
// Colour tells the kind of a thing; only errors are red and only waits are yellow.
import { Kind, State } from "../data/trace";
import type { Trace } from "../data/trace";

export const Shade = {
  call: 0,
  handling: 1, // and the two after it, by name
  dispatch: 4,
  write: 5,
  read: 6,
  create: 7,
  release: 8,
  lend: 9,
  step: 10, // and the seven after it, by name
  outcome: 18,
  lint: 19,
  wait: 20,
  notRun: 21,
  error: 22,
} as const;

export const shades = 23;
/** From here on a shade wins if several things share a pixel, and is drawn last. */
export const firstError = Shade.notRun;

const light = [
  "#c3b1ee",
  "#b4c8e8",
  "#aad2de",
  "#bfcbf2",
  "#8ed3a2",
  "#f1c78c",
  "#93cbf2",
  "#cfd5dc",
  "#b6bdc7",
  "#e8b4d2",
  "#a8dcb8",
  "#cbdc94",
  "#e9d58a",
  "#efc3a0",
  "#d6bdea",
  "#adbef0",
  "#9edcd6",
  "#cfc6ac",
  "#5b6675",
  "#a86500",
  "#f7dc82",
  "#f4b0aa",
  "#cf222e",
];
const dark = [
  "#5b4a8f",
  "#3d5678",
  "#376170",
  "#475489",
  "#2c7443",
  "#835b1c",
  "#2a638e",
  "#4d5662",
  "#626b78",
  "#7d4064",
  "#35694a",
  "#5d6b22",
  "#73611e",
  "#7d5233",
  "#634a78",
  "#45578d",
  "#2a6a66",
  "#635c45",
  "#9aa7b8",
  "#e3a33a",
  "#6b5a17",
  "#84413e",
  "#e5484d",
];

export interface Theme {
  dark: boolean;
  shades: string[];
  ink: string[]; // legible on the shade
  background: string;
  text: string;
  dim: string;
  grid: string;
  band: string;
  life: string;
  accent: string;
  error: string;
  arrow: string;
  counter: string;
  counterFill: string;
}

export const themes: Record<"light" | "dark", Theme> = {
  light: {
    dark: false,
    shades: light,
    ink: light.map(inkOn),
    background: "#ffffff",
    text: "#1b2430",
    dim: "#566172",
    grid: "#1b243014",
    band: "#eef1f5",
    life: "#cdd4dd",
    accent: "#0b62d6",
    error: "#cf222e",
    arrow: "#5a6677",
    counter: "#3f7fbf",
    counterFill: "#3f7fbf33",
  },
  dark: {
    dark: true,
    shades: dark,
    ink: dark.map(inkOn),
    background: "#12161c",
    text: "#e4e9f0",
    dim: "#9aa6b6",
    grid: "#e4e9f014",
    band: "#1b222b",
    life: "#394452",
    accent: "#6cb2ff",
    error: "#ff6b6b",
    arrow: "#94a2b5",
    counter: "#5fa3e0",
    counterFill: "#5fa3e033",
  },
};

export function luminance(hex: string): number {
  const part = (at: number): number => {
    const value = parseInt(hex.slice(at, at + 2), 16) / 255;
    return value <= 0.03928 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
  };
  return 0.2126 * part(1) + 0.7152 * part(3) + 0.0722 * part(5);
}

export function contrast(a: string, b: string): number {
  const [low, high] = [luminance(a), luminance(b)].sort((x, y) => x - y);
  return (high + 0.05) / (low + 0.05);
}

function inkOn(shade: string): string {
  return contrast(shade, "#ffffff") > contrast(shade, "#10151c") ? "#ffffff" : "#10151c";
}

/** A number for a text that is the same in every trace: the same kernel has the same colour. */
function hash(text: string): number {
  let value = 2166136261;
  for (let i = 0; i < text.length; ++i) value = Math.imul(value ^ text.charCodeAt(i), 16777619);
  return value >>> 0;
}

const operations: Record<string, number> = {
  dispatch: Shade.dispatch,
  compute: Shade.dispatch,
  write: Shade.write,
  read: Shade.read,
  create: Shade.create,
  build: Shade.create,
  release: Shade.release,
  destroy: Shade.release,
  lend: Shade.lend,
  export: Shade.lend,
};

/** The shade of each event; texts are hashed once each. */
export function shadesOf(trace: Trace): Uint8Array {
  const { events, strings } = trace;
  const hashes = strings.map(hash);
  const named = strings.map((text) => {
    const word = /^[a-z]+/.exec(text)?.[0] ?? "";
    return operations[word] ?? Shade.create;
  });
  return Uint8Array.from({ length: events.count }, (_, i) => {
    const name = events.name[i];
    if (events.kind[i] === Kind.failure || events.state[i] === State.failed) return Shade.error;
    if (events.state[i] === State.notRun) return Shade.notRun;
    if (events.kind[i] === Kind.outcome) return events.error[i] ? Shade.error : Shade.outcome;
    if (events.error[i]) return Shade.notRun;
    if (events.kind[i] === Kind.call) return Shade.call;
    if (events.kind[i] === Kind.handling) return Shade.handling + (hashes[name] % 3);
    if (events.kind[i] === Kind.operation) return named[name];
    if (events.kind[i] === Kind.step) return Shade.step + (hashes[name] % 8);
    return Shade.lint;
  });
}
