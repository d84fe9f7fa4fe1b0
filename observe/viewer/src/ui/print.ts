// For paper: the part in sight as one picture, which fits any sheet, in light colours and with the names of
// the tracks. Then all errors and lints as text. A WebGL canvas would come out empty.
import type { App } from "../app";
import { actorTitle, eventTitle, momentText } from "../data/trace";
import { themes } from "../draw/palette";
import { fitted, font } from "../draw/surface";
import type { Pane } from "../pane";
import { el, find } from "./dom";

const atMost = 400; // errors and lints each
const ratio = 2;

export function preparePrinting(app: App): void {
  const report = find<HTMLElement>("#report");
  window.addEventListener("beforeprint", () => {
    const { theme, pointer } = app.scene;
    app.scene.theme = themes.light;
    app.scene.pointer = NaN;
    report.replaceChildren(picture(app), ...reportOf(app));
    app.scene.theme = theme;
    app.scene.pointer = pointer;
    app.measure();
  });
  window.addEventListener("afterprint", () => report.replaceChildren());
}

function picture(app: App): HTMLCanvasElement {
  const column = app.panes[0].column;
  const ruler = app.overview.drawPaper(ratio);
  const top = ruler.height / ratio;
  const canvas = el("canvas");
  const heights = app.panes.map((pane) => Math.min(pane.height, pane.sheet.height - pane.scroll));
  canvas.width = (column + app.panes[0].width) * ratio;
  canvas.height = (top + heights.reduce((sum, height) => sum + height, 0)) * ratio;
  const context = canvas.getContext("2d")!;
  context.scale(ratio, ratio);
  context.drawImage(ruler, column, 0, app.panes[0].width, top);
  let y = top;
  app.panes.forEach((pane, i) => {
    const shown = pane.drawPaper(app.scene, ratio);
    context.save();
    context.beginPath();
    context.rect(0, y, canvas.width, heights[i]);
    context.clip();
    context.drawImage(shown, column, y, pane.width, pane.height);
    names(context, pane, column, y);
    context.restore();
    y += heights[i];
  });
  return canvas;
}

function names(context: CanvasRenderingContext2D, pane: Pane, width: number, top: number): void {
  const { light } = themes;
  context.textBaseline = "middle";
  for (const row of pane.sheet.between(pane.scroll, pane.scroll + pane.height)) {
    const y = top + row.y - pane.scroll;
    context.fillStyle = light.life;
    context.fillRect(0, y + row.height - 1, width, 0.5);
    if (row.kind === "band") {
      context.fillStyle = light.band;
      context.fillRect(0, y, width, row.height - 1);
    }
    context.font = row.kind === "band" ? `bold ${font}` : font;
    context.fillStyle = light.text;
    const text = row.note ? `${row.title}  ${row.note}` : row.title;
    context.fillText(fitted(context, text, width - 12), row.indent ? 16 : 4, y + 12);
  }
}

function reportOf(app: App): HTMLElement[] {
  const { view } = app;
  return app.panes.flatMap((pane) => {
    const { trace, links } = pane;
    const shift = trace.clock === "step" ? 0 : trace.first;
    const at = (time: number): string => momentText(trace, Math.round(time - shift));
    const errors = Array.from(links.errors.subarray(0, atMost), (event) => {
      const { actor, begin, error } = trace.events;
      const where = ` (${actorTitle(trace, actor[event])}, ${at(begin[event])}) `;
      const text = trace.strings[error[event]].replace(/\n/g, " ");
      return el("li", {}, el("b", {}, eventTitle(trace, event)), where, text);
    });
    const lints = trace.lints.slice(0, atMost).map((lint) => el("li", {}, lint.text));
    const more = (count: number): string => (count > atMost ? `, the first ${atMost}` : "");
    const verdict = trace.schedule?.verdict;
    return [
      el("p", {}, `${trace.title}: ${at(view.t0)} to ${at(view.t1)}`),
      verdict ? el("p", {}, `Verdict: ${verdict}`) : el("p"),
      el("h2", {}, `Errors: ${links.errors.length}${more(links.errors.length)}`),
      el("ol", {}, ...errors),
      el("h2", {}, `Lints: ${trace.lints.length}${more(trace.lints.length)}`),
      el("ol", {}, ...lints),
    ];
  });
}
