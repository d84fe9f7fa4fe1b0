"""Real clients, unmodified, against a real server: tritonclient and kserve, HTTP and gRPC.

Usage: clients.py PROGRAM MODELS. Exits with 77, and says why, where no client can be had.
"""
import asyncio
import http.client
import importlib
import pathlib
import re
import shutil
import signal
import ssl
import subprocess
import sys
import tempfile
import threading

SKIPPED = 77


def need(name):
    try:
        return importlib.import_module(name)
    except ImportError as error:
        print(f"SKIPPED {name}: {error}")
        return None


class Server:
    """A server on free ports; ends with the block."""

    def __init__(self, program, models, *options, context=None):
        self.context = context
        self.command = [program, models, "--http", "0", "--grpc", "0", *options]

    def __enter__(self):
        self.process = subprocess.Popen(self.command, stderr=subprocess.PIPE, text=True)
        self.http = self.grpc = None
        while not (self.http and self.grpc):
            line = self.process.stderr.readline()
            if not line:
                raise RuntimeError("the server ended")
            if found := re.search(r"serving https?://(\S+)", line):
                self.http = found[1]
            if found := re.search(r"serving gRPC on (\S+)", line):
                self.grpc = found[1]
        threading.Thread(target=self.process.stderr.read, daemon=True).start()
        while not self.ready():
            pass
        return self

    def ready(self):
        connection = (http.client.HTTPSConnection(self.http, context=self.context)
                      if self.context else http.client.HTTPConnection(self.http))
        connection.request("GET", "/v2/health/ready")
        return connection.getresponse().status == 200

    def __exit__(self, failure, *_):
        self.process.terminate()
        code = self.process.wait()
        assert failure or code == 0, f"the server ended with {code}"


def numbers(np):
    first = np.arange(16, dtype=np.int32).reshape(1, 16)
    return first, np.ones((1, 16), np.int32)


def triton_http(server, np):
    triton = importlib.import_module("tritonclient.http")
    client = triton.InferenceServerClient(server.http)
    assert client.is_server_live() and client.is_model_ready("simple")
    assert not client.is_model_ready("none")
    assert client.get_model_metadata("product")["inputs"][0]["shape"] == [-1, -1]
    first, second = numbers(np)
    for binary_in in (False, True):
        for binary_out in (False, True):
            for compression in (None, "gzip", "deflate"):
                inputs = [triton.InferInput("INPUT0", [1, 16], "INT32"),
                          triton.InferInput("INPUT1", [1, 16], "INT32")]
                inputs[0].set_data_from_numpy(first, binary_data=binary_in)
                inputs[1].set_data_from_numpy(second, binary_data=False)
                outputs = [triton.InferRequestedOutput("OUTPUT1", binary_data=binary_out),
                           triton.InferRequestedOutput("OUTPUT0", binary_data=False)]
                result = client.infer("simple", inputs, outputs=outputs, request_id="x",
                                      query_params={"test_1": 1}, headers={"test": "1"},
                                      request_compression_algorithm=compression,
                                      response_compression_algorithm=compression)
                assert (result.as_numpy("OUTPUT0") == first + second).all()
                assert (result.as_numpy("OUTPUT1") == first - second).all()
    inputs[0].set_data_from_numpy(first, binary_data=True)
    assert (client.infer("simple", inputs).as_numpy("OUTPUT0") == first + second).all()
    assert len(client.get_inference_statistics("simple")["model_stats"]) == 1
    assert client.get_model_config("simple")["name"] == "simple"
    names = {line["name"] for line in client.get_model_repository_index()}
    assert "simple" in names
    client.unload_model("copy_int8")
    assert not client.is_model_ready("copy_int8")
    client.load_model("copy_int8")
    assert client.is_model_ready("copy_int8")
    refused(lambda: client.load_model("wrong"), "no model 'wrong'")
    refused(lambda: client.infer("simple", inputs[:1]), "'INPUT1' is missing")
    every_type(np, triton, client)


def every_type(np, module, client):
    types = {"fp16": ("FP16", np.float16), "fp32": ("FP32", np.float32),
             "fp64": ("FP64", np.float64), "int8": ("INT8", np.int8), "int16": ("INT16", np.int16),
             "int64": ("INT64", np.int64), "uint8": ("UINT8", np.uint8),
             "bool": ("BOOL", np.bool_)}
    for name, (wire, kind) in types.items():
        values = np.array([0, 1, 1, 0, 1] if name == "bool" else [0, 1, 2, 3, 100]).astype(kind)
        tensor = module.InferInput("x", [5], wire)
        tensor.set_data_from_numpy(values)
        result = client.infer("copy_" + name, [tensor]).as_numpy("y")
        assert (result == values).all() and result.dtype == values.dtype, (name, result)


def refused(call, text):
    try:
        call()
    except Exception as error:  # each client has its own
        assert text in str(error), error
    else:
        raise AssertionError(f"not refused: {text}")


def triton_grpc(server, np):
    grpc = importlib.import_module("tritonclient.grpc")
    client = grpc.InferenceServerClient(server.grpc)
    assert client.is_server_live() and client.is_model_ready("simple")
    assert not client.is_model_ready("none")
    assert client.get_server_metadata().name == "polychron"
    assert list(client.get_model_metadata("product").inputs[0].shape) == [-1, -1]
    assert client.get_model_config("simple").config.input[0].data_type == 8
    first, second = numbers(np)
    inputs = [grpc.InferInput("INPUT0", [1, 16], "INT32"),
              grpc.InferInput("INPUT1", [1, 16], "INT32")]
    inputs[0].set_data_from_numpy(first)
    inputs[1].set_data_from_numpy(second)
    for outputs in (None, [grpc.InferRequestedOutput("OUTPUT1"),
                           grpc.InferRequestedOutput("OUTPUT0")]):
        result = client.infer("simple", inputs, outputs=outputs, request_id="7", client_timeout=60)
        assert (result.as_numpy("OUTPUT0") == first + second).all()
        assert (result.as_numpy("OUTPUT1") == first - second).all()
        assert result.get_response().id == "7"
    every_type(np, grpc, client)
    assert client.get_inference_statistics("simple").model_stats[0].inference_count > 0
    assert client.get_model_repository_index().models
    client.unload_model("copy_int8")
    assert not client.is_model_ready("copy_int8")
    client.load_model("copy_int8")
    assert client.is_model_ready("copy_int8")
    refused(lambda: client.infer("simple", inputs[:1]), "'INPUT1' is missing")
    refused(lambda: client.infer("none", inputs), "no model 'none'")
    slow = grpc.InferInput("x", [1, 1], "FP32")
    slow.set_data_from_numpy(np.full((1, 1), 0.001, np.float32))
    refused(lambda: client.infer("slow", [slow], timeout=1000), "timed out after 1 ms")
    refused(lambda: client.infer("slow", [slow], client_timeout=0.002), "")


def grpc_contents(server, np):
    """Typed contents instead of raw bytes."""
    service = importlib.import_module("tritonclient.grpc.service_pb2")
    stubs = importlib.import_module("tritonclient.grpc.service_pb2_grpc")
    channel = importlib.import_module("grpc").insecure_channel(server.grpc)
    request = service.ModelInferRequest(model_name="simple")
    for name in ("INPUT0", "INPUT1"):
        tensor = request.inputs.add(name=name, datatype="INT32", shape=[1, 16])
        tensor.contents.int_contents.extend(range(16))
    answer = stubs.GRPCInferenceServiceStub(channel).ModelInfer(request)
    sums = np.frombuffer(answer.raw_output_contents[0], np.int32)
    assert (sums == 2 * np.arange(16)).all()


async def kserve_clients(server, np):
    kserve = importlib.import_module("kserve")
    first, second = numbers(np)
    for binary in (False, True):
        inputs = [kserve.InferInput("INPUT0", [1, 16], "INT32"),
                  kserve.InferInput("INPUT1", [1, 16], "INT32")]
        inputs[0].set_data_from_numpy(first, binary_data=binary)
        inputs[1].set_data_from_numpy(second, binary_data=binary)
        request = kserve.InferRequest(model_name="simple", infer_inputs=inputs)
        rest = kserve.InferenceRESTClient(kserve.RESTConfig(protocol="v2"))
        base = "http://" + server.http
        assert await rest.is_server_ready(base) and await rest.is_server_live(base)
        assert await rest.is_model_ready(base, "simple")
        answer = await rest.infer(base, request, model_name="simple")
        assert (answer.outputs[0].as_numpy() == first + second).all(), answer
        await rest.close()
    client = kserve.InferenceGRPCClient(server.grpc)
    assert await client.is_server_ready() and await client.is_model_ready("simple")
    answer = await client.infer(request)
    assert (answer.outputs[1].as_numpy() == first - second).all(), answer
    await client.close()


def certificates(folder):
    """A CA, and a certificate of 127.0.0.1 that it signed."""
    def openssl(*arguments):
        subprocess.run(["openssl", *arguments], cwd=folder, check=True, capture_output=True)
    openssl("req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", "ca.key", "-out", "ca.pem",
            "-subj", "/CN=test CA", "-days", "2")
    openssl("req", "-newkey", "rsa:2048", "-nodes", "-keyout", "key.pem", "-out", "request.pem",
            "-subj", "/CN=127.0.0.1")
    (folder / "names").write_text("subjectAltName=IP:127.0.0.1")
    openssl("x509", "-req", "-in", "request.pem", "-CA", "ca.pem", "-CAkey", "ca.key",
            "-CAcreateserial", "-out", "cert.pem", "-days", "2", "-extfile", "names")


def certificates_change(server, folder):
    """New files of the same names, and SIGHUP: both ports show the new certificate."""
    addresses = [(host, int(port)) for host, port in
                 (each.split(":") for each in (server.http, server.grpc))]

    def shown(address):
        try:
            return ssl.get_server_certificate(address)
        except OSError:  # gRPC read the files while they were written
            return old

    old = ssl.get_server_certificate(addresses[0])
    assert [ssl.get_server_certificate(each) for each in addresses] == [old, old]
    (folder / "key.pem").write_text("half of a key")
    server.process.send_signal(signal.SIGHUP)
    assert ssl.get_server_certificate(addresses[0]) == old
    certificates(folder)
    new = (folder / "cert.pem").read_text()
    server.process.send_signal(signal.SIGHUP)
    for address in addresses:
        while shown(address) == old:
            pass
        assert shown(address).split() == new.split()


def tls(program, models):
    """TLS with and without certificates of clients, and tokens, by Python's own modules."""
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        certificates(folder)
        (folder / "tokens").write_text("# ours\nsecret\n")
        serving = ["--certificate", str(folder / "cert.pem"), "--key", str(folder / "key.pem")]
        trusting = ssl.create_default_context(cafile=folder / "ca.pem")

        def status(server, context, headers):
            host, port = server.http.split(":")
            connection = http.client.HTTPSConnection(host, int(port), context=context)
            connection.request("GET", "/v2/models/simple", headers=headers)
            return connection.getresponse().status

        with Server(program, models, *serving, "--tokens", str(folder / "tokens"),
                    context=trusting) as server:
            assert status(server, trusting, {}) == 401
            assert status(server, trusting, {"Authorization": "Bearer secret"}) == 200
            refused(lambda: status(server, ssl.create_default_context(), {}), "verify failed")
        with Server(program, models, *serving, context=trusting) as server:
            certificates_change(server, folder)
        known = ssl.create_default_context(cafile=folder / "ca.pem")
        known.load_cert_chain(folder / "cert.pem", folder / "key.pem")
        with Server(program, models, *serving, "--client-ca", str(folder / "ca.pem"),
                    context=known) as server:
            assert status(server, known, {}) == 200
            refused(lambda: status(server, trusting, {}), "")


# Each in a process of its own: two clients that register the same messages do not go together.
TESTS = {
    "triton_http": (["numpy", "tritonclient.http"], triton_http),
    "triton_grpc": (["numpy", "tritonclient.grpc"], triton_grpc),
    "grpc_contents": (["numpy", "tritonclient.grpc"], grpc_contents),
    "kserve": (["numpy", "kserve"],
               lambda server, np: asyncio.run(kserve_clients(server, np))),
}


def run(program, models, name):
    if name == "tls":
        if not shutil.which("openssl"):
            print("SKIPPED tls: the command openssl is not installed")
            sys.exit(SKIPPED)
        tls(program, models)
        return print("passed: tls")
    modules, test = TESTS[name]
    if not all([need(module) for module in modules]):
        sys.exit(SKIPPED)
    with Server(program, models, "--repository") as server:
        test(server, importlib.import_module("numpy"))
    print("passed:", name)


def main():
    if len(sys.argv) == 4:
        return run(*sys.argv[1:])
    codes = [subprocess.run([sys.executable, *sys.argv, name]).returncode
             for name in (*TESTS, "tls")]
    if any(code not in (0, SKIPPED) for code in codes):
        sys.exit(1)
    if all(code == SKIPPED for code in codes):
        sys.exit(SKIPPED)


if __name__ == "__main__":
    main()
