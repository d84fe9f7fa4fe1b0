"""The peer: ONNX Runtime behind FastAPI and uvicorn, as people write it.

It speaks the part of the Open Inference Protocol that the benchmark uses: binary inputs and
outputs. Usage: peer.py MODELS_DIR PORT THREADS
"""
import json
import pathlib
import sys

import numpy as np
import onnxruntime as ort
import uvicorn
from fastapi import FastAPI, Request, Response
from fastapi.concurrency import run_in_threadpool

TYPES = {"FP32": np.float32, "INT64": np.int64}
NAMES = {np.dtype(kind): name for name, kind in TYPES.items()}
app = FastAPI()
sessions = {}


def load(folder, threads):
    options = ort.SessionOptions()
    options.intra_op_num_threads = threads
    options.inter_op_num_threads = 1
    for path in pathlib.Path(folder).glob("*.onnx"):
        sessions[path.stem] = ort.InferenceSession(path, options, ["CPUExecutionProvider"])


def run(session, body, length):
    feeds, at = {}, length
    for each in json.loads(body[:length])["inputs"]:
        size = each["parameters"]["binary_data_size"]
        data = np.frombuffer(body, np.uint8, size, at).view(TYPES[each["datatype"]])
        feeds[each["name"]] = data.reshape(each["shape"])
        at += size
    return session.run(None, feeds)


@app.get("/v2/health/ready")
async def ready():
    return {}


@app.post("/v2/models/{name}/infer")
async def infer(name: str, request: Request):
    session = sessions[name]
    body = await request.body()
    length = int(request.headers["inference-header-content-length"])
    results = await run_in_threadpool(run, session, body, length)
    parts = [result.tobytes() for result in results]
    outputs = [{"name": output.name, "datatype": NAMES[result.dtype], "shape": result.shape,
                "parameters": {"binary_data_size": len(part)}}
               for output, result, part in zip(session.get_outputs(), results, parts)]
    text = json.dumps({"model_name": name, "outputs": outputs}).encode()
    return Response(text + b"".join(parts), media_type="application/octet-stream",
                    headers={"Inference-Header-Content-Length": str(len(text))})


if __name__ == "__main__":
    folder, port, threads = sys.argv[1:]
    load(folder, int(threads))
    uvicorn.run(app, host="127.0.0.1", port=int(port), log_level="warning", access_log=False)
