"""Recognises credentials by the shapes their providers give them, so that none is ever stored."""

from __future__ import annotations

import re

from kg_server.graph.errors import WriteRefused

_STAND_IN = (
    r"(?:\$[A-Z_][A-Z0-9_]{1,60}|\$\{\w{1,60}\}|%\w{1,60}%|<[^<>\s@]{1,60}>|\{{1,2}[^{}\s@]{1,60}\}{1,2}"
    r"|\*{3,60}|\.{3}|…|x{3,60}|X{3,60})"
)
"""What is written in the place of a password to say that there is one."""

_SHAPES: tuple[tuple[str, str], ...] = (
    ("an AWS access key", r"\b(?:AKIA|ASIA)[0-9A-Z]{16}\b"),
    ("a GitHub token", r"\bgh[pousr]_[A-Za-z0-9]{36,255}\b|\bgithub_pat_[A-Za-z0-9_]{60,255}\b"),
    ("a GitLab token", r"\bglpat-[A-Za-z0-9_-]{20,}"),
    ("an Anthropic API key", r"\bsk-ant-[A-Za-z0-9_-]{20,}"),
    ("an OpenAI API key", r"\bsk-(?:proj-|svcacct-)?(?=[A-Za-z_-]{0,60}\d)[A-Za-z0-9_-]{32,}"),
    ("a Slack token", r"\bxox[abprs]-[A-Za-z0-9-]{10,}"),
    ("a Google API key", r"\bAIza[0-9A-Za-z_-]{35}"),
    ("a Stripe key", r"\b[rs]k_live_[0-9A-Za-z]{20,}"),
    ("an npm token", r"\bnpm_[A-Za-z0-9]{36}\b"),
    ("a PyPI token", r"\bpypi-AgEI[A-Za-z0-9_-]{40,}"),
    ("a Hugging Face token", r"\bhf_[A-Za-z0-9]{30,}\b"),
    ("a SendGrid key", r"\bSG\.[A-Za-z0-9_-]{16,32}\.[A-Za-z0-9_-]{32,64}"),
    ("a DigitalOcean token", r"\bdo[opr]_v1_[a-f0-9]{64}\b"),
    ("a private key", r"-----BEGIN (?:[A-Z0-9]{1,20} ){0,3}PRIVATE KEY(?: BLOCK)?-----"),
    ("a signed token (JWT)", r"(?<![A-Za-z0-9_-])eyJ[A-Za-z0-9_-]{10,}\.eyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{10,}"),
    ("a password in a URL", rf"\b[A-Za-z][A-Za-z0-9+.-]{{1,30}}://[^\s/@:]{{0,100}}:(?!{_STAND_IN}@)[^\s/@]{{3,200}}@"),
)
_KEY_BODY = r"(?s:.*?(?:-----END |\Z))"
_ANY = re.compile("|".join(f"(?P<k{number}>{shape})" for number, (_, shape) in enumerate(_SHAPES)))

_ANY_WHOLE = re.compile("|".join(shape + (_KEY_BODY if "PRIVATE KEY" in shape else "") for _, shape in _SHAPES))

_MARKS = (
    *("AKIA", "ASIA", "ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_", "glpat-", "sk-", "xox", "AIza"),
    *("_live_", "npm_", "pypi-", "hf_", "SG.", "_v1_", "eyJ", "-----BEGIN ", "://"),
)
"""One of these stands in each shape: most texts hold none, and are not looked at further."""


def secret_kind(text: str) -> str:
    """What kind of credential `text` holds, in words; empty when none is recognised. Linear in the text."""
    if not any(mark in text for mark in _MARKS):
        return ""
    found = _ANY.search(text)
    if found is None or found.lastgroup is None:
        return ""
    return _SHAPES[int(found.lastgroup[1:])][0]


def without_secrets(text: str) -> str:
    """The text with a blank in the place of each credential that is recognised; a private key goes with its body."""
    return _ANY_WHOLE.sub(" ", text) if secret_kind(text) else text


def refuse_secret(text: str, field: str) -> None:
    """WriteRefused, without a word of the text, when it holds a credential."""
    kind = secret_kind(text)
    if kind:
        raise WriteRefused(
            f"{field} seems to hold {kind}. Secrets are not stored: write where it is kept, never the value itself"
        )
