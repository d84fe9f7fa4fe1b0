// A peer (peer.mjs --serve) that stays: a further task needs no new process. If it ends, the next task has a
// new one.
import { spawn } from "node:child_process";
import path from "node:path";
import readline from "node:readline";
import { root } from "./models.mjs";

const peer = path.join(root, "tests/bench/table/peer.mjs");

export class Served {
  #process;
  #waiting; // the one task in flight: { resolve, reject }

  #start() {
    const started = spawn(process.execPath, [peer, "--serve"], { stdio: ["pipe", "pipe", "ignore"] });
    const finish = (settle) => {
      const waiting = this.#waiting;
      this.#waiting = undefined;
      if (waiting) settle(waiting);
    };
    readline.createInterface({ input: started.stdout }).on("line", (line) => {
      if (line.startsWith("{")) finish(({ resolve }) => resolve(JSON.parse(line)));
    });
    started.stdin.on("error", () => {}); // it has ended; "close" reports that
    started.on("close", (code, signal) => {
      if (this.#process === started) this.#process = undefined;
      finish(({ reject }) => reject(new Error(`ONNX Runtime: its process ended (${signal ?? `exit code ${code}`})`)));
    });
    this.#process = started;
  }

  /** The answer to a task. One at a time. Rejects if it fails, or has no answer after `limit` seconds. */
  async ask(task, limit = 60) {
    if (!this.#process) this.#start();
    const { stdin } = this.#process;
    const started = this.#process;
    const timer = setTimeout(() => started.kill("SIGKILL"), limit * 1000);
    try {
      const answer = await new Promise((resolve, reject) => {
        this.#waiting = { resolve, reject };
        stdin.write(`${JSON.stringify(task)}\n`);
      });
      if (answer.error !== undefined) throw new Error(`ONNX Runtime: ${answer.error}`);
      return answer;
    } finally {
      clearTimeout(timer);
    }
  }

  close() {
    this.#process?.stdin.end();
  }
}
