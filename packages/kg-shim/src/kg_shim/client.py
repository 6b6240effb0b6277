"""The client's name, for the User-Agent: found in `initialize` by a search of bytes, as the shim parses no message."""

from __future__ import annotations

LONGEST = 64
_ALLOWED = b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._ "


def user_agent(message: bytes) -> bytes | None:
    """Answer `NAME/VERSION (kg mcp)` when the message is an `initialize` that names its client."""
    at = message.find(b'"clientInfo"') if b'"initialize"' in message else -1
    if at < 0:
        return None
    name = _text_after(message, b'"name"', at)
    if not name:
        return None
    version = _text_after(message, b'"version"', at)
    return name.replace(b" ", b"-") + (b"/" + version.replace(b" ", b"-") if version else b"") + b" (kg mcp)"


def _text_after(message: bytes, key: bytes, at: int) -> bytes:
    """Answer the string value of a key, reduced to what a header may hold."""
    at = message.find(key, at)
    if at < 0:
        return b""
    rest = message[at + len(key) : at + len(key) + 400].lstrip(b" \t")
    if rest[:1] != b":":
        return b""
    opened, _, value = rest[1:].lstrip(b" \t").partition(b'"')
    if opened:
        return b""  # no string
    value = value.partition(b'"')[0]
    return bytes(byte for byte in value if byte in _ALLOWED).strip()[:LONGEST]
