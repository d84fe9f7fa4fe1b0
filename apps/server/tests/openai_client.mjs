// OpenAI's own client for JavaScript, unmodified, against a real server with tiny models of text.
// Usage: node openai_client.mjs PROGRAM MODELS. Without the package it says why, and exits with 77.
import assert from "node:assert";
import { serve } from "./server.mjs";

let OpenAI;
try {
  OpenAI = (await import("openai")).default;
} catch (error) {
  console.log(`SKIPPED openai: ${error.message.split("\n")[0]}`);
  process.exit(77);
}
const [program, models] = process.argv.slice(2);
const chat = { model: "tiny", messages: [{ role: "user", content: "hello" }], temperature: 0, max_tokens: 12 };
const prompt = { model: "tiny", prompt: "hello", temperature: 1, seed: 5, max_tokens: 12 };

async function texts(client) {
  const answer = await client.chat.completions.create(chat);
  assert.equal(answer.choices[0].message.role, "assistant");
  assert.equal(answer.usage.total_tokens, answer.usage.prompt_tokens + answer.usage.completion_tokens);
  let streamed = "", usage;
  for await (const part of await client.chat.completions.create(
    { ...chat, stream: true, stream_options: { include_usage: true } })) {
    streamed += part.choices[0]?.delta.content ?? "";
    usage = part.usage ?? usage;
  }
  assert.equal(streamed, answer.choices[0].message.content);
  assert.deepEqual(usage, answer.usage);
  const whole = await client.completions.create(prompt);
  streamed = "";
  for await (const part of await client.completions.create({ ...prompt, stream: true }))
    streamed += part.choices[0].text;
  assert.equal(streamed, whole.choices[0].text);
  // A client that leaves its stream: the server goes on with others.
  for await (const part of await client.completions.create({ ...prompt, stream: true, max_tokens: 150 }))
    if (part.choices[0].text) break;
}

async function vectors(client) {
  const input = ["hello world", "!", "hello ".repeat(40)];
  const coded = await client.embeddings.create({ model: "sentences", input });
  const plain = await client.embeddings.create({ model: "sentences", input, encoding_format: "float" });
  assert.equal(coded.usage.prompt_tokens, 4 + 3 + 42);
  plain.data.forEach(({ embedding, index }) => embedding.forEach((number, i) =>
    assert(Math.abs(number - coded.data[index].embedding[i]) < 1e-6)));
}

async function errors(client) {
  for (const [kind, field, asked] of [
    [OpenAI.NotFoundError, "model", () => client.embeddings.create({ model: "none", input: "a" })],
    [OpenAI.NotFoundError, "model", () => client.embeddings.create({ model: "tiny", input: "a" })],
    [OpenAI.BadRequestError, "input", () => client.embeddings.create({ model: "sentences", input: [] })],
    [OpenAI.BadRequestError, "n", () => client.chat.completions.create({ ...chat, n: 2 })]])
    await assert.rejects(asked, (error) => error instanceof kind && error.param === field);
}

await serve(program, models, [], async ({ http }) => {
  const client = new OpenAI({ baseURL: `http://${http}/v1`, apiKey: "none" });
  const names = [];
  for await (const model of client.models.list()) names.push(model.id);
  assert.deepEqual(names, ["sentences", "tiny"]);
  await texts(client);
  await vectors(client);
  await errors(client);
});
console.log("passed: openai for JavaScript");
