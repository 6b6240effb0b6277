"""Undoes tool-call markup that a client let slip into a gist; prose that mentions such a tag is left alone."""

from __future__ import annotations

import json
import re

_FIELDS = "gist|notes|touches|level|id|session_id"
_CLOSING = r"</(?:[a-z]{1,10}:)?(?:gist|parameter|invoke)>"
_OPENING = r"<(?:[a-z]{1,10}:)?"
_LEAK = re.compile(
    rf"(?<![ \t`'\"]){_CLOSING}\s*(?=<|$)"  # a closing tag right after the text, nothing but markup behind it
    rf"|(?<![`'\"])<(?:notes|touches)>\s*(?=\[)"  # an opening list
    rf'|(?<![`\'"]){_OPENING}parameter name="(?:notes|touches)">\s*(?=\[)'
    rf'|(?<![`\'"]){_OPENING}parameter name="(?:{_FIELDS})">[^<]{{0,256}}{_CLOSING}'
)
_CLOSINGS = re.compile(rf"(?:{_CLOSING}\s*){{1,4}}\Z")
_NOTES = re.compile(rf'(?:<notes|{_OPENING}parameter name="notes")>\s*(?=\[)')


def heal(gist: str) -> tuple[str, list[str]]:
    """The gist without leaked markup, and the notes found in what was cut off. Linear in the text."""
    leak = _LEAK.search(gist) if "<" in gist else None
    if leak is None or not gist[: leak.start()].strip():
        return gist, []
    return _CLOSINGS.sub("", gist[: leak.start()]).rstrip(), _notes(gist[leak.start() :])


def _notes(markup: str) -> list[str]:
    found = _NOTES.search(markup)
    if found is None:
        return []
    try:
        values, _ = json.JSONDecoder().raw_decode(markup, found.end())
    except (ValueError, RecursionError):
        return []
    return [value for value in values if isinstance(value, str)] if isinstance(values, list) else []
