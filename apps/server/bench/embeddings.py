"""Embeddings of short sentences: Polychron's server beside FastAPI with ONNX Runtime, in turn.

Both answer OpenAI's /v1/embeddings with the same vectors. FOLDER has one model's folder, with
model.onnx and tokenizer.json. Needs h2load. Usage: embeddings.py PROGRAM FOLDER [SECONDS [TURNS]]
"""
import base64
import contextlib
import itertools
import json
import os
import pathlib
import re
import statistics
import subprocess
import sys
import tempfile
import threading

import numpy as np

from compare import Server

TEXTS = ["An actor has a mailbox.", "Where is the nearest station to the old town hall?",
         "the weather is fine today", "Tensors are read and written in the order of their tickets."]
CLIENTS = (8, 1)


def peer(folder, port):
    """As people write it: uvicorn, FastAPI, tokenizers, onnxruntime, mean pooling in NumPy."""
    import onnxruntime
    import tokenizers
    import uvicorn
    from fastapi import FastAPI
    from fastapi.concurrency import run_in_threadpool

    app = FastAPI()
    tokenizer = tokenizers.Tokenizer.from_file(f"{folder}/tokenizer.json")
    tokenizer.enable_padding()
    tokenizer.enable_truncation(256)
    session = onnxruntime.InferenceSession(f"{folder}/model.onnx",
                                           providers=["CPUExecutionProvider"])

    def embed(texts):
        encodings = tokenizer.encode_batch(texts)
        ids = np.array([each.ids for each in encodings])
        mask = np.array([each.attention_mask for each in encodings])
        states, = session.run(None, {"input_ids": ids, "attention_mask": mask,
                                     "token_type_ids": np.zeros_like(ids)})
        means = (states * mask[..., None]).sum(1) / mask.sum(1, keepdims=True)
        return means / np.linalg.norm(means, axis=1, keepdims=True), int(mask.sum())

    @app.get("/v2/health/ready")
    async def ready():
        return {}

    @app.post("/v1/embeddings")
    async def embeddings(request: dict):
        texts = request["input"]
        vectors, tokens = await run_in_threadpool(
            embed, [texts] if isinstance(texts, str) else texts)
        data = [{"object": "embedding", "index": i,
                 "embedding": base64.b64encode(vector.astype(np.float32).tobytes()).decode()}
                for i, vector in enumerate(vectors)]
        return {"object": "list", "data": data, "model": request["model"],
                "usage": {"prompt_tokens": tokens, "total_tokens": tokens}}

    uvicorn.run(app, host="127.0.0.1", port=port, log_level="warning", access_log=False)


def body_of(model, texts):
    return json.dumps({"model": model, "input": texts, "encoding_format": "base64"}).encode()


def ask(port, body):
    import urllib.request
    request = urllib.request.Request(f"http://127.0.0.1:{port}/v1/embeddings", body,
                                     {"Content-Type": "application/json"})
    answer = json.load(urllib.request.urlopen(request))
    return np.stack([np.frombuffer(base64.b64decode(each["embedding"]), np.float32)
                     for each in answer["data"]])


def rate(port, model, clients, texts, seconds):
    """Requests a second, from clients that each ask again and again, with sentences of their own."""
    rates = []

    def client(text):
        with tempfile.NamedTemporaryFile() as data:
            data.write(body_of(model, text))
            data.flush()
            out = subprocess.run(
                ["h2load", "--h1", "-D", f"{round(seconds * 1000)}ms", "-c",
                 str(max(clients // len(TEXTS), 1)), "-t", "1", "-d", data.name, "-H",
                 "content-type: application/json", f"http://127.0.0.1:{port}/v1/embeddings"],
                capture_output=True, text=True, check=True).stdout
        assert re.search(r" 0 failed, 0 errored", out), out
        rates.append(float(re.search(r", ([\d.]+) req/s", out)[1]))

    threads = [threading.Thread(target=client, args=[text]) for text in texts[:clients]]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    return sum(rates)


def processor_seconds(server):
    stat = pathlib.Path(f"/proc/{server.process.pid}/stat").read_text()
    return sum(map(int, stat.rpartition(")")[2].split()[11:13])) / os.sysconf("SC_CLK_TCK")


def main(program, folder, seconds="5", turns="3"):
    model = next(path for path in pathlib.Path(folder).iterdir() if path.is_dir())
    (model / "config.json").write_text(json.dumps({"max_batch": 8, "batch_window_us": 500}))
    commands = {"Polychron": [program, folder, "--http", "PORT"],
                "FastAPI": [sys.executable, __file__, "--peer", model, "PORT"]}
    table = {}
    with contextlib.ExitStack() as stack:
        servers = {name: stack.enter_context(Server(name, command))
                   for name, command in commands.items()}
        one, other = (ask(each.port, body_of(model.name, TEXTS)) for each in servers.values())
        print(f"the vectors differ by at most {np.abs(one - other).max():.1e}", flush=True)
        for _ in range(2):  # the graphs of joined requests are built
            rate(servers["Polychron"].port, model.name, 8, TEXTS, float(seconds))
        for _, clients, (name, server) in itertools.product(range(int(turns)), CLIENTS,
                                                            servers.items()):
            before = processor_seconds(server)
            measured = rate(server.port, model.name, clients, TEXTS, float(seconds))
            used = processor_seconds(server) - before
            table.setdefault((clients, name), []).append((measured, used / measured / float(seconds)))
    for (clients, name), each in table.items():
        rates, costs = zip(*each)
        print(f"{clients} clients {name:10} {statistics.median(rates):8.1f} embeddings/s, "
              f"{statistics.median(costs) * 1000:.1f} ms of processor time each")


if sys.argv[1] == "--peer":
    peer(sys.argv[2], int(sys.argv[3]))
else:
    main(*sys.argv[1:])
