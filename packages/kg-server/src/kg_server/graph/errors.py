"""Mistakes of a caller, told in one sentence that says what to do."""

from __future__ import annotations


class DomainError(Exception):
    """Base of all domain errors; its text is written for the agent or person who made the call."""


class InvalidEntry(DomainError):
    """An entry breaks a rule; the text names the field, its size where that matters, and the rule."""


class UnknownEntry(DomainError):
    """A node, edge or session that the call names does not exist."""


class WriteRefused(DomainError):
    """A write that was understood but must not happen as it stands (stale, partial, locked, secret)."""
