"""A memory for coding agents. `hookimpl` marks the hooks that a plugin implements; see `kg_server.plugins`."""

from kg_server.plugins.markers import hookimpl

__all__ = ["hookimpl"]
