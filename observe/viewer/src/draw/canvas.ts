// The same rectangles on the 2D canvas, for browsers without WebGL2, and for paper, which keeps no WebGL.
import type { Level } from "../layout/levels";
import { visibleRuns } from "../layout/levels";
import type { Place } from "../layout/sheet";
import { Shade, firstError } from "./palette";
import type { Frame } from "./gl";

type Context = CanvasRenderingContext2D;

export function drawRectangles(
  context: Context,
  level: Level,
  places: Place[],
  frame: Frame,
  chosen: Level | null,
): void {
  context.save();
  drawLevel(context, level, places, frame, frame.dim);
  if (chosen) drawLevel(context, chosen, places, frame, 1);
  context.restore();
}

function drawLevel(
  context: Context,
  level: Level,
  places: Place[],
  frame: Frame,
  dim: number,
): void {
  const margin = 4 / frame.scale;
  const end = frame.t0 + frame.width / frame.scale + margin;
  let shade = -1;
  let cover = -1;
  for (const [from, to] of visibleRuns(level, frame.t0 - margin, end))
    for (let i = from; i < to; ++i) {
      const place = places[level.track[i]];
      const wait = level.shade[i] === Shade.wait;
      if (!place.shown || (wait && place.step === 0)) continue;
      const top = place.y + level.depth[i] * place.step - frame.scroll + (wait ? 1 : 0);
      const height = place.height - (wait ? 2 : 0);
      if (top > frame.height || top + height < 0) continue;
      const left = Math.max(-8, (level.begin[i] - frame.t0) * frame.scale);
      const right = Math.min(frame.width + 8, (level.end[i] - frame.t0) * frame.scale);
      if (right < -4 || left > frame.width + 4) continue;
      if (level.shade[i] !== shade)
        context.fillStyle = frame.theme.shades[(shade = level.shade[i])];
      const strong = level.shade[i] >= firstError;
      let part = strong ? 1 : level.cover[i] / 255;
      // In a collapsed group many share a pixel: each counts as much as it covers.
      if (place.step === 0 && !strong) part *= Math.min(1, Math.max(place.least, right - left));
      if (part !== cover) context.globalAlpha = (cover = part) * dim;
      if (level.moment[i]) context.fillRect(left - 1.5, top, 3, height);
      else {
        const width = right - left;
        context.fillRect(left, top, width > 4 ? width - 1 : Math.max(1, width), height);
      }
    }
}
