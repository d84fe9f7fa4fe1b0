// Pixels of a screenshot: as much of PNG as a browser's screenshots need (8 bits, RGB or RGBA).
import { inflateSync } from "node:zlib";

export function pixels(png) {
  let at = 8;
  let width = 0;
  let height = 0;
  let channels = 0;
  const parts = [];
  while (at < png.length) {
    const length = png.readUInt32BE(at);
    const type = png.toString("latin1", at + 4, at + 8);
    const data = png.subarray(at + 8, at + 8 + length);
    if (type === "IHDR") {
      width = data.readUInt32BE(0);
      height = data.readUInt32BE(4);
      channels = { 2: 3, 6: 4 }[data[9]];
      if (data[8] !== 8 || !channels || data[12]) throw new Error("a PNG of another kind");
    } else if (type === "IDAT") parts.push(data);
    at += length + 12;
  }
  const raw = inflateSync(Buffer.concat(parts));
  const stride = width * channels;
  const out = new Uint8Array(height * stride);
  for (let y = 0; y < height; ++y) {
    const filter = raw[y * (stride + 1)];
    for (let x = 0; x < stride; ++x) {
      const value = raw[y * (stride + 1) + 1 + x];
      const left = x >= channels ? out[y * stride + x - channels] : 0;
      const up = y > 0 ? out[(y - 1) * stride + x] : 0;
      const corner = x >= channels && y > 0 ? out[(y - 1) * stride + x - channels] : 0;
      out[y * stride + x] =
        value + [0, left, up, (left + up) >> 1, paeth(left, up, corner)][filter];
    }
  }
  return {
    width,
    height,
    at: (x, y) => {
      const i = Math.floor(y) * stride + Math.floor(x) * channels;
      return [out[i], out[i + 1], out[i + 2]];
    },
  };
}

function paeth(a, b, c) {
  const [pa, pb, pc] = [Math.abs(b - c), Math.abs(a - c), Math.abs(a + b - 2 * c)];
  return pa <= pb && pa <= pc ? a : pb <= pc ? b : c;
}

/** How far two colours are apart, 0 to 255. */
export function apart(a, b) {
  return Math.max(...a.map((value, i) => Math.abs(value - b[i])));
}

export const rgb = (hex) => [1, 3, 5].map((at) => parseInt(hex.slice(at, at + 2), 16));
