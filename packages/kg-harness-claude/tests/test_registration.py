"""The plugin as the core meets it: through its entry point and the hook specifications."""

from __future__ import annotations

from importlib.metadata import entry_points

import pluggy
from kg_server.plugins import GROUP, EventSource, HarnessInfo, Prompt, Reply, SessionStart, specs


def manager() -> pluggy.PluginManager:
    plugins = pluggy.PluginManager(GROUP)
    plugins.add_hookspecs(specs)
    (entry,) = entry_points(group=GROUP, name="claude")
    plugins.register(entry.load(), name="claude")
    plugins.check_pending()
    return plugins


def test_the_entry_point_registers_and_every_hook_has_a_specification() -> None:
    assert manager().hook.kg_harness() == HarnessInfo(name="claude-code", title="Claude Code")


def test_the_hooks_answer_through_the_plugin_manager() -> None:
    hook = manager().hook
    payload = {"session_id": "s", "cwd": "/p", "prompt": "what about the cache?", "hook_event_name": "UserPromptSubmit"}
    event = hook.kg_classify_payload(event="UserPromptSubmit", payload=payload)
    start = SessionStart(kind="startup", client_session="s", cwd="/p")
    assert event == Prompt(client_session="s", cwd="/p", text="what about the cache?")
    assert hook.kg_detect_harness(source=EventSource(user_agent="kg-hook/1 (claude-code)")) == "claude-code"
    assert hook.kg_typed_text(prompt="/review the cache again") == "the cache again"
    assert hook.kg_render_reply(event=event, reply=Reply()) == {}
    assert hook.kg_preload_limit(event=start).size == hook.kg_reply_limit(event=event).size == 9_500
