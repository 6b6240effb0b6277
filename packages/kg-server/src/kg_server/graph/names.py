"""What an id, a relation and an edge's endpoint may look like, and one-line texts."""

from __future__ import annotations

import re
import unicodedata

from kg_server.graph import limits
from kg_server.graph.errors import InvalidEntry
from kg_server.graph.letters import is_name
from kg_server.graph.model import is_path
from kg_server.graph.secrets import refuse_secret

_ISO_DATE = re.compile(r"\d{4}-\d{2}-\d{2}")
_BREAKS = re.compile(r"[\s\x00-\x1f\x7f-\x9f\u2028\u2029]+")


def nfc(text: str) -> str:
    """A caller's id as one would be stored: the same letters, however the caller composed them."""
    return unicodedata.normalize("NFC", text)


def node_id(text: str, field: str = "id") -> str:
    """The id in its stored form (NFC), or InvalidEntry that names `field`."""
    refuse_secret(text, field)
    name = nfc(text)
    if not is_name(name, limits.ID_MAX_CHARACTERS):
        raise InvalidEntry(
            f"{field} {shown(name)} is not a node id: use letters, digits, '_', '.' and '-' "
            "(kebab-case words), beginning with a letter or digit, at most 128 characters"
        )
    return name


def new_node_id(text: str, field: str = "id") -> str:
    """As `node_id`, and short enough for a new node: at most six words."""
    name = node_id(text, field)
    words = id_words(name)
    if words > limits.ID_MAX_WORDS:
        raise InvalidEntry(
            f"{field} {shown(name)} has {words} words; at most {limits.ID_MAX_WORDS}: "
            "name the lesson, not its story (details belong in the notes)"
        )
    return name


def relation(text: str) -> str:
    """The relation in its stored form, or InvalidEntry."""
    refuse_secret(text, "rel")
    name = nfc(text)
    if not is_name(name, limits.REL_MAX_CHARACTERS):
        raise InvalidEntry(
            f"rel {shown(name)} is not a relation: use letters, digits, '_', '.' and '-', "
            "beginning with a letter or digit, at most 63 characters (for example requires, part-of)"
        )
    return name


def endpoint(text: str, field: str) -> str:
    """An edge's end: a node id, or a path (contains '/' or begins with '~')."""
    if not is_path(text):
        return node_id(text, field)
    refuse_secret(text, field)
    path = nfc(text)
    if len(path) > limits.ENDPOINT_MAX_CHARACTERS:
        raise InvalidEntry(
            f"{field} has {len(path)} characters; a path endpoint has at most {limits.ENDPOINT_MAX_CHARACTERS}"
        )
    if not path.isprintable():
        raise InvalidEntry(f"{field} holds characters that cannot be printed; write the path as plain text")
    return path


def id_words(name: str) -> int:
    """Number of '-'-separated words; an ISO date counts as one."""
    return len([word for word in _ISO_DATE.sub("date", name).split("-") if word])


def has_date(name: str) -> bool:
    """Whether an ISO date stands in the id."""
    return bool(_ISO_DATE.search(name))


def one_line(text: str) -> str:
    """`text` with every run of line breaks, control characters and blanks folded to one blank."""
    if text.isprintable() and "  " not in text:  # no blank but single spaces: most texts, and no need to look further
        return text.strip()
    return _BREAKS.sub(" ", text).strip()


def shown(text: str, longest: int = 60) -> str:
    """A caller's text quoted for a message: short, on one line."""
    line = one_line(text).encode("utf-8", "backslashreplace").decode("utf-8")
    return f"'{line[:longest]}…'" if len(line) > longest else f"'{line}'"
