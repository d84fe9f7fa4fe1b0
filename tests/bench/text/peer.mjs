// What bench_chats does, by llama.cpp. Usage: node peer.mjs MODEL.gguf CORES COUNT...
// bench-text.sh copies it beside an installed node-llama-cpp.
import { getLlama } from "node-llama-cpp";

const [file, cores, ...counts] = process.argv.slice(2);
const threads = Number(cores);
const llama = await getLlama({ gpu: false, build: "never", maxThreads: threads });
const model = await llama.loadModel({ modelPath: file });

async function generate(sequence, prompt, most, times) {
  for await (const _ of sequence.evaluate(model.tokenize(prompt), { temperature: 0 })) {
    times.push(performance.now());
    if (times.length === most) return;
  }
}

async function measure(chats) {
  const context = await model.createContext({ contextSize: 1024, sequences: chats, threads });
  const times = Array.from({ length: chats }, () => []);
  const start = performance.now();
  await Promise.all(
    times.map((own, i) => {
      const prompt = `The history of computing machines number ${i} begins with`;
      return generate(context.getSequence(), prompt, 64, own);
    }),
  );
  const took = performance.now() - start;
  const gaps = times.flatMap((own) => own.slice(1).map((time, i) => time - own[i]));
  gaps.sort((a, b) => a - b);
  const at = (part) => gaps[Math.floor(gaps.length * part)];
  const tokens = times.reduce((sum, own) => sum + own.length, 0);
  const figures = { median_ms: at(0.5), p99_ms: at(0.99) };
  console.log(JSON.stringify({ chats, tokens_per_second: (tokens * 1000) / took, ...figures }));
  await context.dispose();
}

const warm = await model.createContext({ contextSize: 64, threads });
await generate(warm.getSequence(), "A", 1, []);
await warm.dispose();
for (const count of counts) await measure(Number(count));
process.exit(0);
