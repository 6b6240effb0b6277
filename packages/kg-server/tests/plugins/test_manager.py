"""Which plugin is asked what, and what a broken one does to the others."""

from __future__ import annotations

import logging
import textwrap
from collections.abc import Callable
from pathlib import Path
from typing import Any, NoReturn

import pytest
from acme_plugin import INFO, LIMIT, USER_AGENT, kg_harness, plugin
from kg_server.plugins import EventSource, HarnessInfo, Limit, Prompt, Reply, SessionStart
from kg_server.plugins.defaults import REPLY_LIMIT
from kg_server.plugins.manager import Plugins, installed

START = SessionStart("startup", "chat-1", "/p")
PROMPT = Prompt("chat-1", "/p", "hello")
ACME = EventSource(user_agent=USER_AGENT)
ZETA = EventSource(user_agent="zeta/1")
Logged = Callable[[], str]


def broken(*_: object, **__: object) -> NoReturn:
    raise RuntimeError("this plugin is broken")


def zeta(**hooks: Any) -> object:
    """A second client."""
    own: dict[str, Any] = {
        "kg_harness": lambda: HarnessInfo("zeta", "Zeta"),
        "kg_detect_harness": lambda source: "zeta" if source.user_agent.startswith("zeta") else None,
        **hooks,
    }
    return plugin(None, **own)


@pytest.fixture
def logged(caplog: pytest.LogCaptureFixture) -> Logged:
    """What was logged so far, as text."""
    caplog.set_level(logging.DEBUG)
    return lambda: caplog.text


def test_detection_asks_every_plugin() -> None:
    plugins = Plugins({"acme": plugin(), "zeta": zeta()})
    found = [view.info.name if view else None for view in map(plugins.detect, (ACME, ZETA, EventSource()))]
    assert found == ["acme", "zeta", None]


def test_a_plugin_that_serves_no_client_may_detect_one() -> None:
    helper = plugin(None, kg_detect_harness=lambda source: "acme" if source.client_name == "Acme IDE" else None)
    view = Plugins({"acme": plugin(), "helper": helper}).detect(EventSource(client_name="Acme IDE"))
    assert view is not None
    assert view.info == INFO


def test_detection_goes_on_after_a_plugin_that_raises(logged: Logged) -> None:
    for order in (1, -1):
        modules = [("bad", zeta(kg_detect_harness=broken)), ("acme", plugin())][::order]
        view = Plugins(dict(modules)).detect(ACME)
        assert view is not None
        assert view.info == INFO
    assert "plugin bad failed in kg_detect_harness" in logged()
    assert "this plugin is broken" in logged()


def test_a_detected_client_that_nobody_serves_is_none_and_logged(logged: Logged) -> None:
    stray = plugin(None, kg_detect_harness=lambda source: "omega")
    plugins = Plugins({"acme": plugin(), "stray": stray})
    assert plugins.detect(EventSource()) is None
    assert "stray" in logged()
    assert "omega" in logged()


def test_an_answer_that_nobody_serves_does_not_keep_the_right_plugin_from_answering() -> None:
    stray = plugin(None, kg_detect_harness=lambda source: "omega")
    for modules in ({"acme": plugin(), "stray": stray}, {"stray": stray, "acme": plugin()}):
        view = Plugins(modules).detect(ACME)
        assert view is not None
        assert view.info == INFO


def test_a_harness_is_answered_by_its_own_plugin_and_the_defaults_alone() -> None:
    asked: list[str] = []

    def spy(prompt: str) -> str:
        asked.append(prompt)
        return "spied"

    plugins = Plugins({"acme": plugin(None, kg_harness=lambda: INFO), "zeta": zeta(kg_typed_text=spy)})
    acme_view, zeta_view = plugins.view("acme"), plugins.view("zeta")
    assert acme_view is not None
    assert zeta_view is not None
    assert acme_view.typed_text("of acme") == "of acme"
    assert asked == []
    assert zeta_view.typed_text("of zeta") == "spied"


def test_an_unknown_harness_has_no_view() -> None:
    assert Plugins({"acme": plugin()}).view("omega") is None


def test_a_limit_that_cannot_be_had_falls_back_to_the_default(logged: Logged) -> None:
    view = Plugins({"acme": plugin(kg_preload_limit=broken, kg_reply_limit=broken)}).view("acme")
    assert view is not None
    assert view.preload_limit(START) == view.reply_limit(PROMPT) == REPLY_LIMIT
    assert "plugin acme failed in kg_preload_limit" in logged()


def test_a_plugin_that_cannot_read_its_payload_is_logged_and_gives_no_event(logged: Logged) -> None:
    view = Plugins({"acme": plugin(kg_classify_payload=broken)}).view("acme")
    assert view is not None
    assert view.classify("begin", {}) is None
    assert "plugin acme failed in kg_classify_payload" in logged()


def test_a_reply_that_its_plugin_cannot_render_is_not_sent_in_a_shape_the_client_does_not_know(logged: Logged) -> None:
    view = Plugins({"acme": plugin(kg_render_reply=broken)}).view("acme")
    assert view is not None
    assert not view.render(PROMPT, Reply("context"))
    assert "plugin acme failed in kg_render_reply" in logged()


def test_a_prompt_that_its_plugin_cannot_read_counts_as_not_typed(logged: Logged) -> None:
    view = Plugins({"acme": plugin(kg_typed_text=broken)}).view("acme")
    assert view is not None
    assert view.typed_text("<record>of the client</record>") == ""
    assert "plugin acme failed in kg_typed_text" in logged()


def test_a_plugin_whose_name_cannot_be_had_leaves_the_others_alone(logged: Logged) -> None:
    plugins = Plugins({"bad": zeta(kg_harness=broken), "acme": plugin()})
    assert list(plugins.harnesses) == ["acme"]
    assert "plugin bad failed in kg_harness" in logged()


def test_a_harness_of_the_wrong_kind_is_told_and_left_out(logged: Logged) -> None:
    plugins = Plugins({"bad": zeta(kg_harness=lambda: "zeta"), "acme": plugin()})
    assert list(plugins.harnesses) == ["acme"]
    assert "plugin bad: kg_harness answered 'zeta' instead of a HarnessInfo" in logged()


def test_a_second_plugin_for_the_same_harness_is_told_and_not_asked(logged: Logged) -> None:
    first = plugin(kg_typed_text=lambda prompt: "first")
    second = plugin(kg_typed_text=lambda prompt: "second")
    plugins = Plugins({"one": first, "two": second})
    (served,) = {name for name, _ in plugins.harnesses.values()}
    view = plugins.view("acme")
    assert view is not None
    assert view.typed_text("x") == {"one": "first", "two": "second"}[served]
    assert "is served by" in logged()
    assert "one" in logged()
    assert "two" in logged()


def test_a_hook_that_this_server_does_not_know_is_told_and_the_rest_of_the_plugin_used(logged: Logged) -> None:
    plugins = Plugins({"acme": plugin(kg_from_the_future=lambda: 1)})
    view = plugins.view("acme")
    assert view is not None
    assert view.preload_limit(START) == LIMIT
    assert "plugin acme: this server has no hook kg_from_the_future" in logged()


def test_every_unknown_hook_is_told_not_only_the_first(logged: Logged) -> None:
    Plugins({"acme": plugin(kg_from_the_future=lambda: 1, kg_from_beyond=lambda: 1)})
    assert "no hook kg_from_the_future" in logged()
    assert "no hook kg_from_beyond" in logged()


def test_a_hook_with_an_argument_that_the_specification_lacks_leaves_its_plugin_out(logged: Logged) -> None:
    plugins = Plugins({"bad": zeta(kg_typed_text=lambda prompt, mood: "x"), "acme": plugin()})
    assert list(plugins.harnesses) == ["acme"]
    assert "plugin bad does not fit the hook specifications" in logged()
    assert [one.name for one in plugins.listing()] == ["acme", "defaults"]


def test_one_module_under_two_names_is_used_once(logged: Logged) -> None:
    shared = plugin()
    plugins = Plugins({"acme": shared, "acme-again": shared})
    assert plugins.view("acme") is not None
    assert [one.name for one in plugins.listing()] == ["acme", "defaults"]
    assert "acme-again" in logged()


def test_the_listing_names_each_plugin_its_client_and_its_hooks() -> None:
    listing = Plugins({"b": plugin(), "a": plugin(None)}, {"b": "1.2"}).listing()
    assert [(one.name, one.version, one.harness) for one in listing] == [
        ("a", "", ""),
        ("b", "1.2", "acme"),
        ("defaults", "", ""),
    ]
    assert "kg_detect_harness" in listing[1].hooks
    assert list(listing[1].hooks) == sorted(listing[1].hooks)
    assert listing[0].hooks == ()


def test_hook_calls_are_traced_at_debug_level(caplog: pytest.LogCaptureFixture) -> None:
    view = Plugins({"acme": plugin()}).view("acme")
    assert view is not None
    with caplog.at_level(logging.DEBUG, "kg_server.hooks"):
        view.typed_text("hello")
    assert "kg_typed_text of acme" in caplog.text


def test_an_answer_of_none_leaves_the_question_to_the_default() -> None:
    view = Plugins({"acme": plugin(kg_preload_limit=lambda: None)}).view("acme")
    assert view is not None
    assert view.preload_limit(START) == REPLY_LIMIT


# --- plugins as distributions on the import path

Distribution = Callable[..., None]


@pytest.fixture
def distribution(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Distribution:
    """Install a distribution with one plugin: distribution("acme-kg", "2.0", entry="acme", code="…")."""
    monkeypatch.syspath_prepend(tmp_path)

    def install(name: str, version: str, *, entry: str, code: str) -> None:
        info = tmp_path / f"{name.replace('-', '_')}-{version}.dist-info"
        info.mkdir()
        module = f"{entry}_of_{tmp_path.name}".replace("-", "_").replace("[", "_").replace("]", "_")
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n", encoding="utf-8")
        (info / "entry_points.txt").write_text(f"[kg]\n{entry} = {module}\n", encoding="utf-8")
        (tmp_path / f"{module}.py").write_text(textwrap.dedent(code), encoding="utf-8")

    return install


CODE = """
    from kg_server import hookimpl
    from kg_server.plugins import HarnessInfo

    @hookimpl
    def kg_harness():
        return HarnessInfo("{0}", "{0}")
"""


def test_an_installed_plugin_is_found_by_its_entry_point(distribution: Distribution) -> None:
    distribution("kg-omega", "3.1", entry="omega", code=CODE.format("omega"))
    (listed,) = [one for one in installed().listing() if one.name == "omega"]
    assert (listed.version, listed.harness, listed.hooks) == ("3.1", "omega", ("kg_harness",))


def test_the_defaults_are_listed_with_the_servers_version() -> None:
    assert installed(allow=()).listing()[-1].version


def test_only_allowed_plugins_are_loaded(distribution: Distribution) -> None:
    distribution("kg-omega", "1", entry="omega", code=CODE.format("omega"))
    distribution("kg-sigma", "1", entry="sigma", code="raise SystemError('must not be imported')")
    assert list(installed(allow=["omega"]).harnesses) == ["omega"]


def test_an_empty_allow_list_allows_nothing(distribution: Distribution) -> None:
    distribution("kg-omega", "1", entry="omega", code=CODE.format("omega"))
    assert installed(allow=()).harnesses == {}


def test_a_blocked_plugin_is_not_loaded_even_when_it_is_allowed(distribution: Distribution) -> None:
    distribution("kg-omega", "1", entry="omega", code=CODE.format("omega"))
    distribution("kg-sigma", "1", entry="sigma", code=CODE.format("sigma"))
    assert list(installed(allow=["omega", "sigma"], block=["sigma"]).harnesses) == ["omega"]


def test_an_allowed_plugin_that_is_not_installed_is_told(logged: Logged) -> None:
    installed(allow=["not-there"])
    assert "the plugin not-there is allowed but not installed" in logged()


def test_a_plugin_that_cannot_be_imported_is_told_and_left_out(distribution: Distribution, logged: Logged) -> None:
    distribution("kg-omega", "1", entry="omega", code=CODE.format("omega"))
    distribution("kg-sigma", "1", entry="sigma", code="import no_such_module_anywhere")
    assert list(installed(allow=["omega", "sigma"]).harnesses) == ["omega"]
    assert "the plugin sigma could not be loaded" in logged()


def test_the_made_up_client_is_a_plugin_like_any_other() -> None:
    assert kg_harness() == INFO
    assert isinstance(LIMIT, Limit)
