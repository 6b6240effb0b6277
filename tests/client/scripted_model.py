"""A Messages API on loopback whose answers a test writes down beforehand, and which remembers every request.

A script is a list of turns, one per request of the main conversation:

    model.script(call("Read", file_path="/etc/hostname"), say("It says so."))

A turn may also be a function of the request, for what is known only then (an id that the client put into it). When
the script is over the model says `OVER`, so that a client never waits.
"""

from __future__ import annotations

import json
import threading
import uuid
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

OVER = "the script is over"

Block = dict[str, Any]
Turn = list[Block]
Step = Turn | Callable[["Request"], Turn]


def say(text: str) -> Turn:
    """A turn of plain text, which ends the client's loop."""
    return [{"type": "text", "text": text}]


def call(tool: str, **arguments: object) -> Turn:
    """A turn that calls one tool."""
    return [{"type": "tool_use", "id": f"toolu_{uuid.uuid4().hex[:20]}", "name": tool, "input": arguments}]


class Request:
    """One request for the model's next turn."""

    def __init__(self, body: dict[str, Any], headers: dict[str, str]) -> None:
        self.body = body
        self.headers = headers

    @property
    def tools(self) -> list[str]:
        """Names of the tools that are offered with their schemas."""
        return [tool["name"] for tool in self.body.get("tools", []) if not tool.get("defer_loading")]

    def texts(self, role: str) -> list[str]:
        """The texts of all messages with `role`, in order; what a hook adds comes in messages of the role `system`."""
        blocks = (block for message in self._messages(role) for block in _blocks(message["content"]))
        return [block["text"] for block in blocks if block.get("type") == "text"]

    def since(self, prompt: str) -> str:
        """What the client and its hooks added after the last message that holds `prompt`."""
        messages = self.body["messages"]
        start = max(index for index, message in enumerate(messages) if prompt in json.dumps(message["content"]))
        later = Request({"messages": messages[start + 1 :]}, {})
        return "\n".join(later.texts("system"))

    def tool_results(self) -> list[str]:
        """The results of all tool calls so far."""
        blocks = (block for message in self._messages("user") for block in _blocks(message["content"]))
        return [_flat(block.get("content")) for block in blocks if block.get("type") == "tool_result"]

    def _messages(self, role: str) -> Iterator[dict[str, Any]]:
        return (message for message in self.body["messages"] if message["role"] == role)


class ScriptedModel:
    """The server; a context manager that listens on a free port of 127.0.0.1."""

    def __init__(self) -> None:
        self.requests: list[Request] = []
        self._steps: list[Step] = []
        self._lock = threading.Lock()
        handler = type("Handler", (_Handler,), {"model": self})
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.05})

    def __enter__(self) -> ScriptedModel:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()

    @property
    def url(self) -> str:
        """What the client takes for its API's address."""
        return f"http://127.0.0.1:{self._server.server_port}"

    def script(self, *steps: Step) -> None:
        """Set the turns to come and forget the requests so far."""
        with self._lock:
            self._steps = list(steps)
            self.requests = []

    def answer(self, request: Request) -> Turn:
        """The next turn. Requests without tools are the client's own (titles, summaries) and use up none."""
        with self._lock:
            if not request.body.get("tools"):
                return say("A short summary.")
            self.requests.append(request)
            step = self._steps.pop(0) if self._steps else say(OVER)
        return step(request) if callable(step) else step


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    model: ScriptedModel

    def log_message(self, format: str, *args: object) -> None:
        """Keep quiet: the test's output is for the test."""

    def do_HEAD(self) -> None:
        self._send(200, b"", "text/plain")

    def do_POST(self) -> None:
        body = json.loads(self._body() or b"{}")
        if self.path.startswith("/v1/messages/count_tokens"):
            self._send_json({"input_tokens": len(json.dumps(body)) // 4 + 1})
        elif self.path.startswith("/v1/messages"):
            headers = {name.lower(): value for name, value in self.headers.items()}
            self._send_turn(body, self.model.answer(Request(body, headers)))
        else:
            self._send(404, b'{"type":"error","error":{"type":"not_found_error","message":"no such path"}}')

    def _body(self) -> bytes:
        if "chunked" not in self.headers.get("transfer-encoding", ""):
            return self.rfile.read(int(self.headers.get("content-length") or 0))
        parts = []
        while size := int(self.rfile.readline(), 16):
            parts.append(self.rfile.read(size))
            self.rfile.readline()
        self.rfile.readline()
        return b"".join(parts)

    def _send_turn(self, body: dict[str, Any], turn: Turn) -> None:
        message = _message(body, turn)
        if body.get("stream"):
            events = "".join(f"event: {event['type']}\ndata: {json.dumps(event)}\n\n" for event in _stream(message))
            self._send(200, events.encode(), "text/event-stream")
        else:
            self._send_json(message)

    def _send_json(self, value: object) -> None:
        self._send(200, json.dumps(value).encode())

    def _send(self, status: int, data: bytes, kind: str = "application/json") -> None:
        self.send_response(status)
        self.send_header("content-type", kind)
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)


def _message(body: dict[str, Any], turn: Turn) -> dict[str, Any]:
    calls = any(block["type"] == "tool_use" for block in turn)
    return {
        "id": f"msg_{uuid.uuid4().hex[:20]}",
        "type": "message",
        "role": "assistant",
        "model": body.get("model"),
        "content": turn,
        "stop_reason": "tool_use" if calls else "end_turn",
        "stop_sequence": None,
        "usage": {"input_tokens": 100, "output_tokens": 10},
    }


def _stream(message: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """The message as the events of a streamed answer."""
    yield {"type": "message_start", "message": {**message, "content": [], "stop_reason": None}}
    for index, block in enumerate(message["content"]):
        if block["type"] == "text":
            empty, delta = {**block, "text": ""}, {"type": "text_delta", "text": block["text"]}
        else:
            empty = {**block, "input": {}}
            delta = {"type": "input_json_delta", "partial_json": json.dumps(block["input"])}
        yield {"type": "content_block_start", "index": index, "content_block": empty}
        yield {"type": "content_block_delta", "index": index, "delta": delta}
        yield {"type": "content_block_stop", "index": index}
    stop = {"stop_reason": message["stop_reason"], "stop_sequence": None}
    yield {"type": "message_delta", "delta": stop, "usage": {"output_tokens": 10}}
    yield {"type": "message_stop"}


def _blocks(content: str | list[Block]) -> list[Block]:
    return [{"type": "text", "text": content}] if isinstance(content, str) else content


def _flat(content: object) -> str:
    if isinstance(content, str):
        return content
    blocks = content if isinstance(content, list) else []
    return "\n".join(str(block.get("text", "")) for block in blocks)
