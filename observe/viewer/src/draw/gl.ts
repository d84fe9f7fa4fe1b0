// Rectangles by WebGL2: all levels are uploaded once. A frame sets a few uniforms and draws the runs in
// sight. A small texture has the places of tracks. Times are pairs of floats (high and low part): one float
// has 24 bits, and nanoseconds of an hour need 42.
import type { Level } from "../layout/levels";
import { visibleRuns } from "../layout/levels";
import type { Place } from "../layout/sheet";
import { Shade, firstError, shades } from "./palette";
import type { Theme } from "./palette";

const vertexShader = `#version 300 es
precision highp float;
precision highp sampler2D;
layout(location = 0) in vec3 time;
layout(location = 1) in uint track;
layout(location = 2) in uvec4 style;
uniform sampler2D places;
uniform vec2 origin;
uniform float scale, scroll, ratio, dim;
uniform vec2 size;
uniform vec3 palette[${shades}];
uniform vec3 background;
out vec4 colour;
flat out uint striped;
void main() {
  vec4 place = texelFetch(places, ivec2(int(track & 1023u), int(track >> 10)), 0);
  bool wait = style.y == ${Shade.wait}u;
  if (place.w == 0.0 || (wait && place.y == 0.0)) {
    gl_Position = vec4(2.0, 2.0, 0.0, 1.0);
    return;
  }
  float left = ((time.x - origin.x) + (time.y - origin.y)) * scale;
  float right = left + time.z * scale;
  left = clamp(left, -8.0, size.x + 8.0);
  right = clamp(right, -8.0, size.x + 8.0);
  float width = right - left;
  float least = style.w == 1u ? 3.0 : 1.0;
  if (style.w == 1u) { left -= 1.5; width = least; }
  else if (width < least) width = least;
  else if (width > 4.0) width -= 1.0;
  float top = place.x + float(style.x) * place.y - scroll;
  float height = place.z;
  if (wait) { top += 1.0; height -= 2.0; }
  vec2 corner = vec2(gl_VertexID & 1, gl_VertexID >> 1);
  vec2 at = vec2(left + corner.x * width, top + corner.y * height);
  gl_Position = vec4(at.x / size.x * 2.0 - 1.0, 1.0 - at.y / size.y * 2.0, 0.0, 1.0);
  float cover = float(style.z) / 255.0;
  // Of a collapsed group many share a pixel: each counts as much as it covers.
  if (place.y == 0.0 && style.y < ${firstError}u) cover *= clamp(time.z * scale, place.w, 1.0);
  colour = vec4(mix(background, palette[style.y], dim), cover);
  striped = (wait || style.y == ${Shade.notRun}u) ? 1u : 0u;
}`;

const fragmentShader = `#version 300 es
precision highp float;
in vec4 colour;
flat in uint striped;
uniform float ratio, stripe;
out vec4 pixel;
void main() {
  float shade = 1.0;
  if (striped == 1u && mod((gl_FragCoord.x + gl_FragCoord.y) / ratio, 8.0) < 3.0) shade = stripe;
  pixel = vec4(colour.rgb * shade * colour.a, colour.a);
}`;

const stride = 20;
const uniformNames = [
  "places",
  "origin",
  "scale",
  "scroll",
  "ratio",
  "dim",
  "size",
  "palette",
  "background",
  "stripe",
] as const;

export interface Frame {
  t0: number;
  shift: number; // how much earlier it is shown on the axis of time
  scale: number; // pixels a unit of time
  width: number;
  height: number;
  scroll: number;
  dim: number; // 1: full colours
  theme: Theme;
}

/** Instances of a level as the shader reads them. Times are relative to `first`. */
export function instances(level: Level, first: number): ArrayBuffer {
  const buffer = new ArrayBuffer(level.count * stride);
  const floats = new Float32Array(buffer);
  const words = new Uint32Array(buffer);
  const bytes = new Uint8Array(buffer);
  for (let i = 0; i < level.count; ++i) {
    const begin = level.begin[i] - first;
    const high = Math.fround(begin);
    floats[i * 5] = high;
    floats[i * 5 + 1] = begin - high;
    floats[i * 5 + 2] = level.end[i] - level.begin[i];
    words[i * 5 + 3] = level.track[i];
    bytes[i * stride + 16] = level.depth[i];
    bytes[i * stride + 17] = level.shade[i];
    bytes[i * stride + 18] = level.shade[i] >= firstError ? 255 : level.cover[i];
    bytes[i * stride + 19] = level.moment[i];
  }
  return buffer;
}

export class Rectangles {
  private gl: WebGL2RenderingContext;
  private at: Record<string, WebGLUniformLocation | null> = {};
  private buffers = new Map<Level, WebGLBuffer>();
  private sheetVersion = -1;
  private tracks: number;
  private chosen: WebGLBuffer | null = null;
  private chosenLevel: Level | null = null;

  /**
   * Null without WebGL2, or with one in software only, which is slower than the 2D canvas (200 ms a frame,
   * where the canvas takes 33). The caller draws on the canvas then. `anyway` takes one in software, too.
   */
  static on(
    canvas: HTMLCanvasElement,
    first: number,
    tracks: number,
    anyway: boolean,
  ): Rectangles | null {
    const gl = canvas.getContext("webgl2", {
      antialias: false,
      alpha: true,
      depth: false,
      failIfMajorPerformanceCaveat: !anyway,
    });
    if (!gl) return null;
    if (!anyway && inSoftware(gl)) {
      gl.getExtension("WEBGL_lose_context")?.loseContext();
      return null;
    }
    try {
      return new Rectangles(gl, first, tracks);
    } catch {
      return null;
    }
  }

  private constructor(
    gl: WebGL2RenderingContext,
    private first: number,
    tracks: number,
  ) {
    this.gl = gl;
    this.tracks = tracks;
    const program = gl.createProgram();
    for (const [type, source] of [
      [gl.VERTEX_SHADER, vertexShader],
      [gl.FRAGMENT_SHADER, fragmentShader],
    ] as const) {
      const shader = gl.createShader(type)!;
      gl.shaderSource(shader, source);
      gl.compileShader(shader);
      gl.attachShader(program, shader);
    }
    gl.linkProgram(program);
    if (!gl.getProgramParameter(program, gl.LINK_STATUS))
      throw new Error(gl.getProgramInfoLog(program) ?? "the shaders do not link");
    gl.useProgram(program);
    for (const name of uniformNames) this.at[name] = gl.getUniformLocation(program, name);
    gl.bindTexture(gl.TEXTURE_2D, gl.createTexture());
    for (const side of [gl.TEXTURE_MIN_FILTER, gl.TEXTURE_MAG_FILTER])
      gl.texParameteri(gl.TEXTURE_2D, side, gl.NEAREST);
    gl.enable(gl.BLEND);
    gl.blendFunc(gl.ONE, gl.ONE_MINUS_SRC_ALPHA);
  }

  get lost(): boolean {
    return this.gl.isContextLost();
  }

  places(places: Place[], version: number): void {
    if (version === this.sheetVersion) return;
    this.sheetVersion = version;
    const { gl } = this;
    const rows = Math.max(1, Math.ceil(this.tracks / 1024));
    const texels = new Float32Array(rows * 1024 * 4);
    places.forEach(({ y, step, height, shown, least }, i) =>
      texels.set([y, step, height, shown ? least : 0], i * 4),
    );
    gl.texImage2D(gl.TEXTURE_2D, 0, gl.RGBA32F, 1024, rows, 0, gl.RGBA, gl.FLOAT, texels);
  }

  draw(level: Level, frame: Frame, chosen: Level | null): void {
    const { gl } = this;
    const ratio = gl.canvas.width / frame.width;
    gl.viewport(0, 0, gl.canvas.width, gl.canvas.height);
    gl.clearColor(0, 0, 0, 0);
    gl.clear(gl.COLOR_BUFFER_BIT);
    const from = frame.t0 - this.first;
    const high = Math.fround(from);
    gl.uniform2f(this.at.origin, high, from - high);
    gl.uniform1f(this.at.scale, frame.scale);
    gl.uniform1f(this.at.scroll, frame.scroll);
    gl.uniform1f(this.at.ratio, ratio);
    gl.uniform1f(this.at.stripe, frame.theme.dark ? 0.82 : 0.93);
    gl.uniform1f(this.at.dim, frame.dim);
    gl.uniform2f(this.at.size, frame.width, frame.height);
    gl.uniform3fv(this.at.palette, frame.theme.shades.flatMap(rgb));
    gl.uniform3fv(this.at.background, rgb(frame.theme.background));
    this.run(this.bufferOf(level), level, frame);
    if (!chosen) return;
    if (chosen !== this.chosenLevel) {
      this.chosen ??= gl.createBuffer();
      gl.bindBuffer(gl.ARRAY_BUFFER, this.chosen);
      gl.bufferData(gl.ARRAY_BUFFER, instances(chosen, this.first), gl.DYNAMIC_DRAW);
      this.chosenLevel = chosen;
    }
    gl.uniform1f(this.at.dim, 1);
    this.run(this.chosen!, chosen, frame);
  }

  private bufferOf(level: Level): WebGLBuffer {
    let buffer = this.buffers.get(level);
    if (!buffer) {
      buffer = this.gl.createBuffer();
      this.buffers.set(level, buffer);
      this.gl.bindBuffer(this.gl.ARRAY_BUFFER, buffer);
      const data = instances(level, this.first);
      this.gl.bufferData(this.gl.ARRAY_BUFFER, data, this.gl.STATIC_DRAW);
    }
    return buffer;
  }

  private run(buffer: WebGLBuffer, level: Level, frame: Frame): void {
    const { gl } = this;
    gl.bindBuffer(gl.ARRAY_BUFFER, buffer);
    for (const place of [0, 1, 2]) {
      gl.enableVertexAttribArray(place);
      gl.vertexAttribDivisor(place, 1);
    }
    const margin = 4 / frame.scale;
    const end = frame.t0 + frame.width / frame.scale + margin;
    for (const [from, to] of visibleRuns(level, frame.t0 - margin, end)) {
      gl.vertexAttribPointer(0, 3, gl.FLOAT, false, stride, from * stride);
      gl.vertexAttribIPointer(1, 1, gl.UNSIGNED_INT, stride, from * stride + 12);
      gl.vertexAttribIPointer(2, 4, gl.UNSIGNED_BYTE, stride, from * stride + 16);
      gl.drawArraysInstanced(gl.TRIANGLE_STRIP, 0, 4, to - from);
    }
  }
}

/** Browsers do not always say so when they are asked: the renderer's name tells. */
function inSoftware(gl: WebGL2RenderingContext): boolean {
  const names = gl.getExtension("WEBGL_debug_renderer_info");
  const name = gl.getParameter(names ? names.UNMASKED_RENDERER_WEBGL : gl.RENDERER);
  return /swiftshader|llvmpipe|softpipe|software|basic render/i.test(String(name));
}

function rgb(hex: string): number[] {
  return [1, 3, 5].map((at) => parseInt(hex.slice(at, at + 2), 16) / 255);
}
