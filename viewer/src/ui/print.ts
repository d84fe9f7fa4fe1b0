// For paper: the visible part in light colours on the 2D canvas, then all errors and lints as text.
import type { App } from "../app";
import { actorTitle, eventTitle, momentText } from "../data/trace";
import { themes } from "../draw/palette";
import { el, find } from "./dom";

const atMost = 400;

export function preparePrinting(app: App): void {
  const report = find<HTMLElement>("#report");
  window.addEventListener("beforeprint", () => {
    const { theme } = app.scene;
    app.scene.theme = themes.light;
    app.scene.paper = true;
    app.drawNow();
    report.replaceChildren(...reportOf(app));
    app.scene.theme = theme;
    app.scene.paper = false;
  });
  window.addEventListener("afterprint", () => {
    report.replaceChildren();
    app.invalidate();
  });
}

function reportOf(app: App): HTMLElement[] {
  const { view } = app;
  return app.panes.flatMap((pane) => {
    const { trace, links } = pane;
    const shift = trace.clock === "step" ? 0 : trace.first;
    const at = (time: number): string => momentText(trace, trace.clock === "step" ? Math.round(time) : Math.round(time - shift));
    const errors = Array.from(links.errors.subarray(0, atMost), (event) => {
      const { actor, begin, error } = trace.events;
      const text = trace.strings[error[event]].replace(/\n/g, " ");
      return el(
        "li",
        {},
        el("b", {}, eventTitle(trace, event)),
        ` (${actorTitle(trace, actor[event])}, ${at(begin[event])}) `,
        text,
      );
    });
    const lints = trace.lints.slice(0, atMost).map((lint) => el("li", {}, lint.text));
    const more = (count: number): string => (count > atMost ? `, the first ${atMost}` : "");
    return [
      el("p", {}, `${trace.title}: ${at(view.t0)} to ${at(view.t1)}`),
      el("h2", {}, `Errors: ${links.errors.length}${more(links.errors.length)}`),
      el("ol", {}, ...errors),
      el("h2", {}, `Lints: ${trace.lints.length}${more(trace.lints.length)}`),
      el("ol", {}, ...lints),
      trace.schedule?.verdict ? el("p", {}, `Verdict: ${trace.schedule.verdict}`) : el("p"),
    ];
  });
}
