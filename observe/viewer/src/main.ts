// The page's start: reads the trace in it, and shows it, or one line with the reason why not.
import { App } from "./app";
import { Damaged, decode, unpack } from "./data/decode";
import { find } from "./ui/dom";
import { Input } from "./ui/input";
import { preparePrinting } from "./ui/print";
import { Tip } from "./ui/tip";
import { Toolbar } from "./ui/toolbar";

async function start(): Promise<void> {
  const source = find<HTMLElement>("#trace");
  const trace = decode(await unpack(source.textContent ?? ""));
  source.remove(); // its memory is not needed any more
  document.title = `${trace.title} · Polychron`;
  const wanted = (["webgl", "canvas"] as const).find((one) => location.hash === `#${one}`);
  const app = new App(trace, wanted ?? "auto");
  const tip = new Tip(app);
  for (const pane of app.panes) new Input(app, pane, tip);
  new Toolbar(app);
  preparePrinting(app);
  document.body.classList.add("ready");
  app.measure();
  // For tests, and for scripts in the browser's console.
  Object.assign(window, {
    polychron: {
      app,
      frames: app.frames.between,
      drawing: app.frames.drawing,
      webgl: app.panes.every((pane) => pane.usesGl),
    },
  });
}

start().catch((error: unknown) => {
  const line = find<HTMLElement>("#wrong");
  line.textContent =
    error instanceof Damaged ? error.message : `this page cannot show its trace: ${String(error)}`;
  line.hidden = false;
  document.body.classList.add("wrong");
});
