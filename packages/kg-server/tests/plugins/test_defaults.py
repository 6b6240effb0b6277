"""The core's own answers where a client's plugin has none."""

from __future__ import annotations

from acme_plugin import INFO, plugin
from kg_server.plugins import Prompt, Reply, SessionStart, ToolUse
from kg_server.plugins.manager import HarnessView, Plugins

START = SessionStart("startup", "chat-1", "/p")
PROMPT = Prompt("chat-1", "/p", "hello")


def bare() -> HarnessView:
    """A client whose plugin says its name and nothing else."""
    view = Plugins({"bare": plugin(None, kg_harness=lambda: INFO)}).view("acme")
    assert view is not None
    return view


def test_all_of_a_prompt_counts_as_typed() -> None:
    assert bare().typed_text("  why is it slow? | no idea\n") == "why is it slow? | no idea"


def test_a_reply_is_rendered_as_context_and_message() -> None:
    assert bare().render(PROMPT, Reply("for the model", "for the person")) == {
        "context": "for the model",
        "message": "for the person",
    }


def test_an_empty_part_of_a_reply_is_left_out() -> None:
    assert bare().render(PROMPT, Reply("for the model")) == {"context": "for the model"}
    assert bare().render(PROMPT, Reply(message="for the person")) == {"message": "for the person"}
    assert bare().render(PROMPT, Reply()) == {}


def test_the_default_limits_are_what_the_tightest_known_client_keeps() -> None:
    for limit in (bare().preload_limit(START), bare().reply_limit(PROMPT)):
        assert limit.unit == "bytes"
        assert limit.size <= 10_000


def test_events_are_not_guessed_where_the_plugin_classifies_none() -> None:
    assert bare().classify("begin", {"chat": "1"}) is None


def test_no_file_and_no_page_is_guessed_from_a_tools_name() -> None:
    event = ToolUse("chat-1", "/p", "Read", {"file_path": "/p/a.py", "url": "https://host/"})
    assert bare().file_touches(event) == []
    assert bare().web_lookups(event) == []


def test_what_package_managers_and_build_tools_make_is_transient() -> None:
    names = Plugins({}).transient_paths
    assert {"node_modules", ".venv", "venv", "__pycache__", ".git", "build", "dist", ".pytest_cache"} <= names
    assert not names & {"src", "lib", "docs", "tests", "env", "out", "vendor"}


def test_there_is_no_default_sample() -> None:
    assert bare().sample_payload(PROMPT) is None
