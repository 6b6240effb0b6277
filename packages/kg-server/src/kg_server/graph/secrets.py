"""Recognises credentials by the shapes their providers give them, so that none is ever stored."""

from __future__ import annotations

import re

_SHAPES: tuple[tuple[str, str], ...] = (
    ("an AWS access key", r"\b(?:AKIA|ASIA)[0-9A-Z]{16}\b"),
    ("a GitHub token", r"\bgh[pousr]_[A-Za-z0-9]{36,255}\b|\bgithub_pat_[A-Za-z0-9_]{60,255}\b"),
    ("a GitLab token", r"\bglpat-[A-Za-z0-9_-]{20,}"),
    ("an Anthropic API key", r"\bsk-ant-[A-Za-z0-9_-]{20,}"),
    ("an OpenAI API key", r"\bsk-(?:proj-|svcacct-)?[A-Za-z0-9_-]{32,}"),
    ("a Slack token", r"\bxox[abprs]-[A-Za-z0-9-]{10,}"),
    ("a Google API key", r"\bAIza[0-9A-Za-z_-]{35}"),
    ("a Stripe key", r"\b[rs]k_live_[0-9A-Za-z]{20,}"),
    ("an npm token", r"\bnpm_[A-Za-z0-9]{36}\b"),
    ("a PyPI token", r"\bpypi-AgEI[A-Za-z0-9_-]{40,}"),
    ("a Hugging Face token", r"\bhf_[A-Za-z0-9]{30,}\b"),
    ("a SendGrid key", r"\bSG\.[A-Za-z0-9_-]{16,32}\.[A-Za-z0-9_-]{32,64}"),
    ("a DigitalOcean token", r"\bdo[opr]_v1_[a-f0-9]{64}\b"),
    ("a private key", r"-----BEGIN (?:[A-Z0-9]{1,20} ){0,3}PRIVATE KEY(?: BLOCK)?-----"),
    ("a signed token (JWT)", r"\beyJ[A-Za-z0-9_-]{10,}\.eyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{10,}"),
    ("a password in a URL", r"\b[a-z][a-z0-9+.-]{1,30}://[^\s/@:]{0,100}:[^\s/@]{3,200}@"),
)
_ANY = re.compile("|".join(f"(?P<k{number}>{shape})" for number, (_, shape) in enumerate(_SHAPES)))


def secret_kind(text: str) -> str:
    """What kind of credential `text` holds, in words; empty when none is recognised. Linear in the text."""
    found = _ANY.search(text)
    if found is None or found.lastgroup is None:
        return ""
    return _SHAPES[int(found.lastgroup[1:])][0]
