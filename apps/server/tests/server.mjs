// A server for tests in JavaScript.
import assert from "node:assert";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";

/** Runs `test({ http, grpc })` with a server on free ports, which has to end with code 0. */
export async function serve(program, models, options, test) {
  const child = spawn(program, [models, "--http", "0", "--grpc", "0", ...options],
    { stdio: ["ignore", "ignore", "pipe"] });
  try {
    const ports = {};
    const lines = createInterface({ input: child.stderr });
    for await (const line of lines) {
      const found = /serving (https?:\/\/|gRPC on )(\S+)/.exec(line);
      if (found) ports[found[1] === "gRPC on " ? "grpc" : "http"] = found[2];
      if (ports.grpc && ports.http) break;
    }
    assert(ports.grpc && ports.http, "the server ended");
    child.stderr.resume();
    while ((await fetch(`http://${ports.http}/v2/health/ready`)).status !== 200);
    await test(ports);
    child.kill("SIGTERM");
    const [code] = child.exitCode === null ? await once(child, "exit") : [child.exitCode];
    assert.equal(code, 0, "how the server ended");
  } finally {
    child.kill("SIGKILL");
  }
}
