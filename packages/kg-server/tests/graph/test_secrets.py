"""Credentials are known by their shapes. The samples are put together at run time: none stands in this file."""

from __future__ import annotations

import random
import string
from collections.abc import Callable

import pytest
from kg_server.graph import names
from kg_server.graph.entries import checked_gist, checked_notes, checked_touches
from kg_server.graph.errors import WriteRefused
from kg_server.graph.secrets import secret_kind, without_secrets

ALNUM = string.ascii_letters + string.digits


def some(count: int, alphabet: str = ALNUM, seed: int = 7) -> str:
    """A made-up value with at least one digit."""
    return "7" + "".join(random.Random(seed).choices(alphabet, k=count - 1))


def dashed(*parts: str) -> str:
    return "-".join(parts)


SAMPLES: dict[str, Callable[[], list[str]]] = {
    "an AWS access key": lambda: [
        start + some(16, string.ascii_uppercase + string.digits) for start in ("AK" + "IA", "AS" + "IA")
    ],
    "a GitHub token": lambda: [
        *(f"gh{kind}_" + some(36) for kind in "pousr"),
        "github_" + "pat_" + some(22) + "_" + some(59),
    ],
    "a GitLab token": lambda: [dashed("glpat", some(20))],
    "an Anthropic API key": lambda: [dashed("sk", "ant", "api03", some(40))],
    "an OpenAI API key": lambda: [
        dashed("sk", some(48)),
        dashed("sk", "proj", some(60)),
        dashed("sk", "svcacct", some(60)),
    ],
    "a Slack token": lambda: [dashed(f"xox{kind}", some(12, string.digits), some(24)) for kind in "abprs"],
    "a Google API key": lambda: ["AI" + "za" + some(35)],
    "a Stripe key": lambda: ["sk_" + "live_" + some(24), "rk_" + "live_" + some(24)],
    "an npm token": lambda: ["npm" + "_" + some(36)],
    "a PyPI token": lambda: [dashed("pypi", "AgEI" + some(60))],
    "a Hugging Face token": lambda: ["hf" + "_" + some(34)],
    "a SendGrid key": lambda: ["SG." + some(22) + "." + some(43)],
    "a DigitalOcean token": lambda: [f"do{kind}_v1_" + some(64, "0123456789abcdef") for kind in "opr"],
    "a private key": lambda: (
        [
            f"-----BEGIN {kind}PRIVATE " + "KEY-----\n" + some(64)
            for kind in ("", "RSA ", "EC ", "OPENSSH ", "ENCRYPTED ", "DSA ")
        ]
        + ["-----BEGIN PGP PRIVATE " + "KEY BLOCK-----\n\n" + some(64)]
    ),
    "a signed token (JWT)": lambda: [".".join(("ey" + "J" + some(30), "ey" + "J" + some(60), some(43)))],
    "a password in a URL": lambda: [
        f"{scheme}://{user}:{some(12)}@db.example.org:5432/app"
        for scheme in ("postgres", "https", "HTTPS", "mongodb+srv", "redis")
        for user in ("app", "")
    ],
}
EVERY = [(kind, number) for kind, make in SAMPLES.items() for number in range(len(make()))]


def sample(kind: str, number: int) -> str:
    return SAMPLES[kind]()[number]


@pytest.mark.parametrize(("kind", "number"), EVERY)
def test_each_kind_is_known_wherever_it_stands(kind: str, number: int) -> None:
    secret = sample(kind, number)
    for text in (secret, f"the key is {secret}", f"KEY={secret}", f'"{secret}"', f"({secret}),", f"密钥:{secret}。"):
        assert secret_kind(text) == kind


@pytest.mark.parametrize(("kind", "number"), EVERY)
def test_each_kind_is_refused_in_every_field_and_never_echoed(kind: str, number: int) -> None:
    secret = sample(kind, number)
    for field, check in (
        ("gist", lambda: checked_gist(f"deploys need {secret}")),
        ("note 2", lambda: checked_notes(["fine", f"use {secret}"])),
        ("touch 1", lambda: checked_touches([f"conf/{secret}"])),
        ("id", lambda: names.node_id(secret)),
        ("to", lambda: names.endpoint(f"conf/{secret}", "to")),
        ("from", lambda: names.endpoint(secret, "from")),
        ("rel", lambda: names.relation(secret)),
    ):
        with pytest.raises(WriteRefused) as told:
            check()
        assert str(told.value).startswith(f"{field} ")
        assert kind in str(told.value)
        assert secret[:12] not in str(told.value)
        assert secret[-12:] not in str(told.value)


@pytest.mark.parametrize(
    "text",
    [
        "Keys such as sk-ant-… and ghp_… live in the vault, AKIA prefixes mark AWS ones",
        "Rotate the OpenAI API key each month; it is read from OPENAI_API_KEY",
        "The private key is at ~/.ssh/id_ed25519, its header says PRIVATE KEY",
        "-----BEGIN PUBLIC KEY----- starts the certificate's key",
        "A JWT begins with eyJ and has two dots",
        "postgres://localhost:5432/app needs no password",
        "http://127.0.0.1:8765/health and user@example.org",
        "git@github.com:org/repo.git, https://user@host/path, https://host:443/@scope/name",
        "sk-learn-style-pipelines-are-preferred-over-hand-written-loops",
        "commit 3f786850e387550fdab836ed7e6dc881de23001b broke it",
        "uuid 550e8400-e29b-41d4-a716-446655440000 is the tenant",
        "sha256-47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU= in the lock file",
        "task-sk-12345678 and risk-analysis",
    ],
)
def test_prose_that_speaks_of_keys_is_accepted(text: str) -> None:
    assert secret_kind(text) == ""
    assert checked_gist(text) == text
    assert checked_notes([text]) == [text]


@pytest.mark.parametrize(
    "stand_in",
    [
        "$DB_PASSWORD",
        "${DB_PASSWORD}",
        "<password>",
        "{password}",
        "{{pw}}",
        "***",
        "...",
        "xxxx",
        "%PW%",
    ],
)
def test_a_stand_in_for_a_password_is_no_password(stand_in: str) -> None:
    assert secret_kind(f"postgres://app:{stand_in}@db/app") == ""
    assert secret_kind(f"postgres://app:{stand_in}!{some(6)}@db/app") == "a password in a URL"


@pytest.mark.timeout(20)
@pytest.mark.parametrize(
    "piece",
    ["eyJ-", "eyJaaaaaaaaaaaa.", "sk-", "a://", "a:b@", "gh", "SG.", "-----BEGIN ", "xox", "a1-", "$", "AI" + "za_"],
)
def test_a_long_text_that_only_looks_like_the_beginning_of_one_is_no_trouble(piece: str) -> None:
    secret_kind(piece * (300_000 // len(piece)))  # one that is not linear takes a minute and more


def test_a_password_that_only_begins_like_a_stand_in_is_one() -> None:
    assert secret_kind("postgres://app:" + "$" + some(9) + "@db/app") == "a password in a URL"


@pytest.mark.parametrize(("kind", "number"), EVERY)
def test_a_text_without_its_secrets_holds_all_but_them(kind: str, number: int) -> None:
    secret = sample(kind, number)
    left = without_secrets(f"before {secret} after {secret}")
    assert left.startswith("before ")
    assert some(64)[:12] not in left
    assert secret not in left
    assert secret_kind(left) == ""
    assert without_secrets("nothing of the kind") == "nothing of the kind"


def test_a_private_key_goes_with_its_body_and_the_text_behind_it_stays() -> None:
    key = "-----BEGIN PRIVATE " + "KEY-----\nMIIEabc\nxyz\n-----END " + "PRIVATE KEY-----"
    assert without_secrets(f"see {key} and more").split() == ["see", "PRIVATE", "KEY-----", "and", "more"]
