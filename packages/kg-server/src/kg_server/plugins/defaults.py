"""The core's own answers to the hooks: asked last, so that a harness says only what differs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from kg_server.graph.units import Limit
from kg_server.plugins.markers import hookimpl
from kg_server.plugins.records import Reply

REPLY_LIMIT = Limit(9_000, "bytes")
"""What any known client keeps whole of one hook reply."""

TRANSIENT = (
    *(".git", ".hg", ".svn", ".jj"),
    *("node_modules", "bower_components", "site-packages", ".venv", "venv", ".virtualenv", ".tox", ".nox", ".eggs"),
    *("__pycache__", ".cache", ".mypy_cache", ".ruff_cache", ".pytest_cache", ".hypothesis", ".gradle"),
    *("build", "dist", "target", ".parcel-cache", ".next", ".nuxt", ".turbo", ".svelte-kit", "htmlcov"),
)
"""Folders whose files come and go. `env`, `out` and `vendor` are not among them: people keep sources there too."""


@hookimpl(trylast=True)
def kg_typed_text(prompt: str) -> str:
    """All of the prompt: a client without markup of its own sends only what was typed."""
    return prompt.strip()


@hookimpl(trylast=True)
def kg_render_reply(reply: Reply) -> Mapping[str, object]:
    """The plain shape: `context` for the model, `message` for the person, empty ones left out."""
    shape = {"context": reply.context, "message": reply.message}
    return {name: text for name, text in shape.items() if text}


@hookimpl(trylast=True)
def kg_preload_limit() -> Limit:
    """The smallest limit of the known clients."""
    return REPLY_LIMIT


@hookimpl(trylast=True)
def kg_reply_limit() -> Limit:
    """The smallest limit of the known clients."""
    return REPLY_LIMIT


@hookimpl(trylast=True)
def kg_transient_paths() -> Sequence[str]:
    """What package managers, build tools and version control make."""
    return TRANSIENT
