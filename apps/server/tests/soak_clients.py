"""Clients of soak.py that ask as they should. Every answer is checked."""
import asyncio
import json
import re
import struct
import urllib.parse

try:
    import grpc
    import tritonclient.grpc  # noqa: F401
except ImportError:
    grpc = None
    print("without gRPC: tritonclient is not installed")

BUSY = (429, 503)  # the server may say: come again


class Connection:
    """HTTP as much as is needed. A kept connection that the server has closed is opened again.

    A new connection may be closed too, before its request is read: the server has a limit, and
    closes what is idle. Then the request is sent once again, as proxies do; `again` counts these.
    """

    def __init__(self, port):
        self.port, self.streams, self.again = port, None, 0

    async def ask(self, method, path, body=b"", headers=()):
        """(status, body) of an answer, read whole."""
        head = f"{method} {path} HTTP/1.1\r\nHost: localhost\r\nContent-Length: {len(body)}\r\n"
        head += "".join(f"{name}: {value}\r\n" for name, value in headers) + "\r\n"
        again = self.again
        while True:
            kept = self.streams is not None
            if not kept:
                self.streams = await asyncio.open_connection("127.0.0.1", self.port)
            reader, writer = self.streams
            try:
                writer.write(head.encode() + body)
                return await self.answer(reader, writer)
            except (ConnectionError, asyncio.IncompleteReadError) as error:
                self.close()
                if not kept:
                    if self.again > again or getattr(error, "partial", b""):
                        raise
                    self.again += 1
            except BaseException:
                self.close()
                raise

    async def answer(self, reader, writer):
        head = (await reader.readuntil(b"\r\n\r\n")).decode()
        length = re.search(r"(?i)\r\ncontent-length: (\d+)", head)
        body = await reader.readexactly(int(length[1]) if length else 0)
        if re.search(r"(?i)\r\nconnection: close", head):
            self.close()
        json_length = re.search(r"(?i)inference-header-content-length: (\d+)", head)
        return int(head.split()[1]), body, int(json_length[1]) if json_length else len(body)

    def close(self):
        if self.streams:
            self.streams[1].close()
            self.streams = None


class Client:
    """A client of some kind. ask() tallies what comes; what is not expected is bad."""

    def __init__(self, server, tally):
        self.server, self.tally = server, tally
        self.kind = type(self).__name__
        self.connection = Connection(server.port)

    async def ask(self, method, path, body=b"", headers=(), expected=(200,)):
        try:
            async with asyncio.timeout(60):
                status, text, length = await self.connection.ask(method, path, body, headers)
        except (OSError, asyncio.IncompleteReadError, TimeoutError) as error:
            self.tally.wrong("unanswered", self.kind, f"{method} {path}: {error!r}")
            return None
        self.tally.answered(self.kind, status)
        self.tally.acts["sent again"] += self.connection.again
        self.connection.again = 0
        if status not in expected:
            self.tally.wrong("status", self.kind, f"{method} {path}: {status} {text[:200]!r}")
        elif status >= 400 and not json.loads(text)["error"]:
            self.tally.wrong("error", self.kind, f"{status} without a reason")
        return (text, length) if status == 200 else None

    def check(self, got, wanted):
        if got != wanted:
            note = f"got {str(got)[:200]}, expected {str(wanted)[:200]}"
            self.tally.wrong("wrong", self.kind, note)


def infer(model):
    return f"/v2/models/{urllib.parse.quote(model)}/infer"


def pair(first, second):
    return {"inputs": [{"name": name, "datatype": "INT32", "shape": [1, 16], "data": data}
                       for name, data in (("INPUT0", first), ("INPUT1", second))]}


class Json(Client):
    """Sums and differences, as text."""

    async def __call__(self, chance):
        first, second = ([chance.randrange(-99, 99) for _ in range(16)] for _ in range(2))
        answer = await self.ask("POST", infer("simple"), json.dumps(pair(first, second)).encode(),
                                expected=(200, *BUSY))
        if answer:
            outputs = {each["name"]: each["data"] for each in json.loads(answer[0])["outputs"]}
            self.check(outputs, {"OUTPUT0": [a + b for a, b in zip(first, second)],
                                 "OUTPUT1": [a - b for a, b in zip(first, second)]})


class Binary(Client):
    """Bytes of any length, copied: each length is a shape of its own."""

    async def __call__(self, chance):
        data = chance.randbytes(chance.randrange(1, 40))
        text = json.dumps({"inputs": [{"name": "x", "datatype": "UINT8", "shape": [len(data)],
                                       "parameters": {"binary_data_size": len(data)}}],
                           "parameters": {"binary_data_output": True}}).encode()
        answer = await self.ask("POST", infer("copy_uint8"), text + data,
                                [("Inference-Header-Content-Length", len(text))], (200, *BUSY))
        if answer:
            self.check(answer[0][answer[1]:], data)


class Product(Client):
    """Products of matrices whose sizes change, with whole numbers: exact."""

    async def __call__(self, chance):
        rows, inner, columns = (chance.randrange(1, 6) for _ in range(3))
        a, b = ([[chance.randrange(9) for _ in range(width)] for _ in range(height)]
                for height, width in ((rows, inner), (inner, columns)))
        inputs = [{"name": name, "datatype": "FP32", "shape": [len(m), len(m[0])], "data": m}
                  for name, m in (("a", a), ("b", b))]
        answer = await self.ask("POST", infer("product"), json.dumps({"inputs": inputs}).encode(),
                                expected=(200, *BUSY))
        if answer:
            output = json.loads(answer[0])["outputs"][0]
            self.check(output["shape"], [rows, columns])
            self.check(output["data"], [sum(x * y for x, y in zip(row, column))
                                        for row in a for column in zip(*b)])


class Deadline(Client):
    """A model that takes long, with a timeout that may be too short."""

    async def __call__(self, chance):
        request = {"inputs": [{"name": "x", "datatype": "FP32", "shape": [1, 1], "data": [0.001]}],
                   "parameters": {"timeout": chance.choice((1000, 100_000, 10_000_000))}}
        answer = await self.ask("POST", infer("slow"), json.dumps(request).encode(),
                                expected=(200, 504, *BUSY))
        if answer:
            value = json.loads(answer[0])["outputs"][0]["data"]
            self.first = getattr(self, "first", value)
            self.check(value, self.first)


class Swapped(Client):
    """A model that is replaced all the time (soak_faults.Swap): the answer is one of the two."""

    async def __call__(self, chance):
        first, second = ([chance.randrange(2, 99) for _ in range(16)] for _ in range(2))
        answer = await self.ask("POST", infer("swap"), json.dumps(pair(first, second)).encode(),
                                expected=(200, 404, *BUSY))
        if answer:
            sums = next(each["data"] for each in json.loads(answer[0])["outputs"]
                        if each["name"] == "OUTPUT0")
            products = [a * b for a, b in zip(first, second)]
            if sums != products:
                self.check(sums, [a + b for a, b in zip(first, second)])


class Looking(Client):
    """Pages for people and programs."""

    async def __call__(self, chance):
        path = chance.choice(("/", "/metrics", "/v2", "/v2/health/ready", "/v2/models/simple",
                              "/v2/models/simple/stats", "/v2/models/product/config"))
        await self.ask("GET", path)


class Grpc(Client):
    """The same sums over gRPC, by tritonclient; some calls are cancelled, some have a deadline."""

    def __init__(self, server, tally):
        super().__init__(server, tally)
        self.stub = None

    async def __call__(self, chance):
        from tritonclient.grpc import service_pb2, service_pb2_grpc
        if not self.stub:
            channel = grpc.aio.insecure_channel(f"127.0.0.1:{self.server.grpc}")
            self.stub = service_pb2_grpc.GRPCInferenceServiceStub(channel)
        name = chance.choice(("simple", "simple", "slow", "none"))
        request = service_pb2.ModelInferRequest(model_name=name)
        values = [chance.randrange(99) for _ in range(16)]
        if name == "slow":
            tensor = request.inputs.add(name="x", datatype="FP32", shape=[1, 1])
            tensor.contents.fp32_contents.append(0.001)
        else:
            for each in ("INPUT0", "INPUT1"):
                tensor = request.inputs.add(name=each, datatype="INT32", shape=[1, 16])
                tensor.contents.int_contents.extend(values)
        call = self.stub.ModelInfer(request, timeout=chance.choice((0.05, 60, 60)))
        if chance.random() < 0.1:
            await asyncio.sleep(chance.random() / 10)
            call.cancel()
        try:
            answer = await call
        except (grpc.aio.AioRpcError, asyncio.CancelledError):
            code = (await call.code()).name
            self.tally.answered(self.kind, code)
            if code not in ("CANCELLED", "DEADLINE_EXCEEDED", "RESOURCE_EXHAUSTED", "UNAVAILABLE") \
                    and (code, name) != ("NOT_FOUND", "none"):
                self.tally.wrong("status", self.kind, f"{name}: {code} {await call.details()}")
            return
        self.tally.answered(self.kind, "OK")
        if name == "simple":
            sums = struct.unpack("<16i", answer.raw_output_contents[0])
            self.check(list(sums), [2 * each for each in values])


KINDS = (Json, Binary, Product, Deadline, Swapped, Looking, *([Grpc] if grpc else []))


async def at_rest(server, tally):
    """After all has ended: the server is well, nothing is in flight, and no connection is left."""
    if server.process.poll() is not None:
        return
    client = Client(server, tally)
    client.kind = "at rest"
    for _ in range(100):
        answer = await client.ask("GET", "/metrics")
        text = answer[0].decode() if answer else ""
        busy = [line for line in text.splitlines()
                if re.match(r"polychron_(in_flight.* [1-9]|connections ([2-9]|\d\d))", line)]
        if not busy:
            break
        await asyncio.sleep(0.2)
    else:
        tally.wrong("rest", "server", "; ".join(busy))
    client.connection.close()
