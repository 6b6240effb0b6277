"""Reads off a shell's command line which files it shows. A harness whose client has a shell tool may use it."""

from __future__ import annotations

from kg_server.plugins.shell.reads import ShellRead, shell_reads

__all__ = ["ShellRead", "shell_reads"]
