// A canvas in device pixels that is drawn on in CSS pixels, and the values that every drawing needs.
export interface Surface {
  canvas: HTMLCanvasElement;
  context: CanvasRenderingContext2D;
  width: number;
  height: number;
}

export interface Box {
  x: number;
  y: number;
  width: number;
  height: number;
}

export const font = "11px system-ui, 'Segoe UI', Roboto, 'DejaVu Sans', sans-serif";
export const smallFont = "10px system-ui, 'Segoe UI', Roboto, 'DejaVu Sans', sans-serif";

export function surface(canvas: HTMLCanvasElement): Surface {
  const context = canvas.getContext("2d");
  if (!context) throw new Error("this browser has no 2D canvas");
  return { canvas, context, width: 0, height: 0 };
}

/** Takes the size that the page gives it; false: nothing has changed. */
export function fitTo(
  canvas: HTMLCanvasElement,
  width: number,
  height: number,
  ratio = Math.min(3, window.devicePixelRatio || 1),
): boolean {
  const w = Math.max(1, Math.round(width * ratio));
  const h = Math.max(1, Math.round(height * ratio));
  if (canvas.width === w && canvas.height === h) return false;
  canvas.width = w;
  canvas.height = h;
  return true;
}

/** Clears, and makes one unit a CSS pixel. */
export function begin(target: Surface): CanvasRenderingContext2D {
  const { context, canvas } = target;
  const ratio = canvas.width / target.width;
  context.setTransform(1, 0, 0, 1, 0, 0);
  context.clearRect(0, 0, canvas.width, canvas.height);
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  return context;
}

const widths = new Map<string, number>();

/** As much of a text as fits; empty if too little fits. */
export function fitted(context: CanvasRenderingContext2D, text: string, room: number): string {
  let width = widths.get(text);
  if (width === undefined) {
    if (widths.size > 20000) widths.clear();
    widths.set(text, (width = context.measureText(text).width));
  }
  if (width <= room) return text;
  const letters = Math.floor((room - 11) / (width / text.length));
  // A whole first word, which names the action, says more than a part of it and dots.
  const word = text.indexOf(" ");
  if (word > 0 && letters <= word + 2) {
    const short = text.slice(0, word);
    if (fitted(context, short, room) === short) return short;
  }
  return letters < 2 ? "" : text.slice(0, letters) + "…";
}

/** Moments at which the axis has a mark: 1, 2 or 5 times a power of ten apart. */
export function ticks(t0: number, t1: number, atMost: number, whole: boolean): number[] {
  const rough = (t1 - t0) / Math.max(1, atMost);
  const power = 10 ** Math.floor(Math.log10(rough));
  const factor = [1, 2, 5, 10].find((one) => one * power >= rough) ?? 10;
  const step = whole ? Math.max(1, Math.round(factor * power)) : factor * power;
  const found: number[] = [];
  for (let k = Math.ceil(t0 / step); k * step <= t1 && found.length < 200; ++k)
    found.push(k * step);
  return found;
}
