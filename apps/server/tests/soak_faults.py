"""Clients of soak.py that do what they should not, and hands that change models meanwhile."""
import asyncio
import json
import signal
import sys

from soak_clients import BUSY, Client, Connection, infer, pair

RIGHT = json.dumps(pair([1] * 16, [2] * 16)).encode()
LARGE = json.dumps({"inputs": [{"name": "x", "datatype": "FP32", "shape": [50000],
                                "data": [1.25] * 50000}]}).encode()


def head(path, length):
    return f"POST {path} HTTP/1.1\r\nHost: localhost\r\nContent-Length: {length}\r\n\r\n".encode()


def mistaken(chance):
    """A request that is wrong, and the statuses that it may get."""
    simple = infer("simple")
    wrong = pair([1] * 16, [2] * 16)
    mistake = chance.randrange(11)
    if mistake == 0:
        return simple, RIGHT[:chance.randrange(len(RIGHT))], (400,)  # JSON that breaks off
    if mistake == 1:
        return simple, chance.randbytes(chance.randrange(1, 300)), (400,)
    if mistake == 2:
        wrong["inputs"][0]["name"] = chance.choice(("", "x", "INPUT0\x00", "\U0001f600" * 99))
    if mistake == 3:
        wrong["inputs"][0]["shape"] = chance.choice(([16], [1, 17], [-1, 16], [2**70], [1.5], "x"))
    if mistake == 4:
        wrong["inputs"][0]["datatype"] = chance.choice(("INT64", "BYTES", "", "FP16", 7))
    if mistake == 5:
        wrong["inputs"][0]["data"] = chance.choice(([1], ["x"] * 16, [1e99] * 16, [None] * 16, {}))
    if mistake == 6:
        wrong["outputs"] = [{"name": "OUTPUT7"}]
    if mistake == 7:
        name = chance.choice(("none", "../simple", "a/b", "%00", "x" * 500))
        return infer(name), RIGHT, (404, 400)
    if mistake == 8:
        return chance.choice(("/", "/v3", "/v2/models/simple/none", "/infer")), RIGHT, (404, 405)
    if mistake == 9:
        return simple, b"[" * 100000, (400,)
    if mistake == 10:  # a plan that does not fit the model's memory
        inputs = [{"name": "a", "datatype": "FP32", "shape": [20000, 1], "data": [0] * 20000},
                  {"name": "b", "datatype": "FP32", "shape": [1, 20000], "data": [0] * 20000}]
        return infer("wide"), json.dumps({"inputs": inputs}).encode(), (400, *BUSY)
    return simple, json.dumps(wrong).encode(), (400,)


class Mistaken(Client):
    """Wrong requests. The connection goes on."""

    async def __call__(self, chance):
        path, body, expected = mistaken(chance)
        await self.ask("POST", path, body, expected=expected)


class TooLarge(Client):
    """Bodies and headers over the limits; the connection may end, so each has its own."""

    async def __call__(self, chance):
        self.connection = Connection(self.server.port)
        if chance.random() < 0.5:
            await self.ask("POST", infer("simple"), b" " * 1_000_001, expected=(413,))
        else:
            await self.ask("GET", "/v2", headers=[("X-Long", "x" * 20000)], expected=(431,))
        self.connection.close()


class Raw:
    """A client that does not wait for answers. Its connection counts as none."""

    def __init__(self, server, _):
        self.server = server

    async def __call__(self, chance):
        try:
            reader, writer = await asyncio.open_connection("127.0.0.1", self.server.port)
            try:
                await self.harm(chance, reader, writer)
            finally:
                writer.transport.abort()  # a reset, for what is left
        except (OSError, asyncio.IncompleteReadError, asyncio.LimitOverrunError):
            pass  # the server ended it, as it may


class Leaving(Raw):
    """Leaves in the middle of a request, or before the answer."""

    async def harm(self, chance, reader, writer):
        path, body = chance.choice(((infer("simple"), RIGHT), (infer("slow"), RIGHT),
                                    (infer("copy_fp32"), LARGE)))
        request = head(path, len(body)) + body
        writer.write(request[:chance.randrange(len(request) + 1)])
        await writer.drain()
        if chance.random() < 0.3:
            writer.write_eof()
            await reader.read(100)


class SlowWriter(Raw):
    """Sends a byte now and then, until the server's patience ends."""

    async def harm(self, chance, reader, writer):
        request = head(infer("simple"), len(RIGHT)) + RIGHT
        begin = chance.randrange(len(request) // 2)
        writer.write(request[:begin])
        for byte in request[begin:begin + 40]:
            writer.write(bytes([byte]))
            await writer.drain()
            await asyncio.sleep(0.2)


class SlowReader(Raw):
    """Asks for much and reads little of it."""

    async def harm(self, chance, reader, writer):
        for _ in range(chance.randrange(1, 5)):
            writer.write(head(infer("copy_fp32"), len(LARGE)) + LARGE)
        await writer.drain()
        for _ in range(chance.randrange(20)):
            await reader.read(1000)
            await asyncio.sleep(0.2)


class Endless(Raw):
    """A body in chunks that never ends."""

    async def harm(self, chance, reader, writer):
        writer.write(f"POST {infer('simple')} HTTP/1.1\r\nHost: x\r\n"
                     "Transfer-Encoding: chunked\r\n\r\n".encode())
        for _ in range(50):
            writer.write(b"8000\r\n" + b" " * 0x8000 + b"\r\n")
            await writer.drain()


class Idle(Raw):
    """More connections than the server keeps, which say nothing."""

    async def harm(self, chance, reader, writer):
        if chance.random() > 0.02:
            return
        idle = [await asyncio.open_connection("127.0.0.1", self.server.port) for _ in range(150)]
        await asyncio.sleep(chance.random())
        for _, each in idle:
            each.close()


class Stopped:
    """A client in a process of its own, which is stopped while it waits, and killed."""
    PROGRAM = """
import http.client, sys
connection = http.client.HTTPConnection("127.0.0.1", int(sys.argv[1]))
body = sys.stdin.buffer.read()
while True:
    connection.request("POST", sys.argv[2], body)
    connection.getresponse().read()
"""

    def __init__(self, server, _):
        self.server = server

    async def __call__(self, chance):
        if chance.random() > 0.1:
            return
        client = await asyncio.create_subprocess_exec(
            sys.executable, "-c", self.PROGRAM, str(self.server.port), infer("copy_fp32"),
            stdin=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.DEVNULL)
        try:
            client.stdin.write(LARGE)
            client.stdin.close()
            await asyncio.sleep(chance.random() / 2)
            client.send_signal(signal.SIGSTOP)
            await asyncio.sleep(chance.random() * 5)
            client.send_signal(signal.SIGCONT)
            client.kill()
        except ProcessLookupError:
            pass  # it ended by itself
        await client.wait()


class Swap(Client):
    """Replaces the model `swap`: by sums, by products, by what is no model; removes it."""

    def __init__(self, server, tally):
        super().__init__(server, tally)
        self.path = server.folder / "swap.onnx"
        sums = (server.folder / "simple.onnx").read_bytes()
        self.models = {3: sums, 2: sums.replace(b"Add", b"Mul")}  # what they make of 1 and 2
        self.broken = [b"", sums[:50], sums.replace(b"Add", b"Odd"), bytes(1000)]
        self.put(sums)

    def put(self, data):
        part = self.path.with_suffix(".part")
        part.write_bytes(data)
        part.replace(self.path)

    async def __call__(self, chance):
        what = chance.random()
        if what < 0.15:
            self.path.unlink(missing_ok=True)
        elif what < 0.5:
            self.put(chance.choice(self.broken))
        else:
            result = chance.choice(list(self.models))
            self.put(self.models[result])
            await self.turned(result)

    async def turned(self, result):
        """Until the new model answers."""
        for _ in range(600):
            answer = await self.ask("POST", infer("swap"), RIGHT, expected=(200, 404, *BUSY))
            if answer and json.loads(answer[0])["outputs"][0]["data"] == [result] * 16:
                return
            await asyncio.sleep(0.05)
        self.tally.wrong("wrong", self.kind, "a new model did not serve within 600 requests")


class Turns(Client):
    """Unloads a model and loads it again, by the repository's interface."""

    async def __call__(self, chance):
        what = chance.choice(("load", "unload"))
        await self.ask("POST", f"/v2/repository/models/copy_int8/{what}", b"{}",
                       expected=(200, 404, *BUSY))
        await self.ask("POST", "/v2/repository/models/none/load", b"{}", expected=(400, 404))
        index = await self.ask("POST", "/v2/repository/index", b"{}")
        if index and not any(each["name"] == "simple" for each in json.loads(index[0])):
            self.tally.wrong("wrong", self.kind, "the index has no 'simple'")


KINDS = (Mistaken, Mistaken, TooLarge, Leaving, Leaving, SlowWriter, SlowReader, Endless, Idle,
         Stopped, Swap, Turns)
