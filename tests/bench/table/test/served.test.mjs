// The peer that stays.
import assert from "node:assert/strict";
import fs from "node:fs";
import path from "node:path";
import { test } from "node:test";
import { root } from "../models.mjs";
import { Served } from "../served.mjs";

const none = { model: "/none.onnx", threads: 1, seconds: 0.1 };
const skip = fs.existsSync(path.join(root, "node_modules/onnxruntime-node"))
  ? false
  : "npm's onnxruntime-node is not installed (scripts/setup.sh peer)";

test("a task that fails says why, and the next one is answered", { skip }, async () => {
  const peer = new Served();
  try {
    for (let i = 0; i < 2; ++i)
      await assert.rejects(peer.ask(none), /^Error: ONNX Runtime: .*none.onnx/);
  } finally {
    peer.close();
  }
});

test("a task without an answer ends the process, and the next one has another", { skip }, async () => {
  const peer = new Served();
  try {
    await assert.rejects(peer.ask(none, 0), /its process ended \(SIGKILL\)/);
    await assert.rejects(peer.ask(none), /none.onnx/);
  } finally {
    peer.close();
  }
});
