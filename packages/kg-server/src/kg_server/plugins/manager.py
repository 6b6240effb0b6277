"""The plugin manager: what is installed, who an event belongs to, and one harness's view of the hooks."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import EntryPoint, entry_points, version
from types import ModuleType
from typing import Any, TypeVar

import pluggy

from kg_server.graph.units import Limit
from kg_server.plugins import defaults, specs
from kg_server.plugins.markers import GROUP
from kg_server.plugins.records import (
    Event,
    EventSource,
    FileTouch,
    HarnessInfo,
    JsonObject,
    Reply,
    SessionStart,
    ToolUse,
    WebLookup,
)

log = logging.getLogger(__name__)
trace = logging.getLogger("kg_server.hooks")
"""Every hook call and its answer at level DEBUG, which KG_TRACE_HOOKS=1 switches on."""

DEFAULTS = "defaults"
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class PluginInfo:
    """An installed plugin as `kg plugins` lists it."""

    name: str
    version: str
    harness: str
    hooks: tuple[str, ...]


class Plugins:
    """All plugins. A plugin that raises is logged with its name and skipped; its caller gets the next answer."""

    def __init__(self, modules: Mapping[str, object], versions: Mapping[str, str] | None = None) -> None:
        self._versions = dict(versions or {})
        self._manager = _manager({**modules, DEFAULTS: defaults})
        _tell_unknown_hooks(self._manager)
        self._modules = {name: module for name, module in modules.items() if self._manager.has_plugin(name)}
        self.harnesses = self._find_harnesses()
        self.transient_paths = self._find_transient_paths()
        """Names of folders whose files come and go, of all plugins together: see `kg_transient_paths`."""
        self._views = {name: HarnessView(info, self._view(name)) for name, (_, info) in self.harnesses.items()}

    def detect(self, source: EventSource) -> HarnessView | None:
        """The harness that `source` belongs to; every plugin is asked, one by one."""
        for name, answer in _answers(self._manager, "kg_detect_harness", source=source):
            if isinstance(answer, str) and answer in self._views:
                return self._views[answer]
            log.warning("plugin %s detected the harness %r, which no plugin serves", name, answer)
        return None

    def view(self, harness: str) -> HarnessView | None:
        """The view of the harness with that name."""
        return self._views.get(harness)

    def offers(self, hook: str, kind: type[T]) -> list[tuple[str, T]]:
        """What all plugins add to the MCP endpoint by `hook` (see `kg_mcp_tools`), each with its plugin's name."""
        found: list[tuple[str, T]] = []
        for plugin, answer in _answers(self._manager, hook):
            found += [(plugin, one) for one in _all_of(kind, answer, f"plugin {plugin}: {hook}")]
        return found

    def listing(self) -> list[PluginInfo]:
        """Every plugin with its hooks, the defaults last."""
        served = {plugin: info.name for plugin, info in self.harnesses.values()}
        names = [*sorted(self._modules), DEFAULTS]
        return [
            PluginInfo(name, self._versions.get(name, ""), served.get(name, ""), self._hooks_of(name)) for name in names
        ]

    def _find_harnesses(self) -> dict[str, tuple[str, HarnessInfo]]:
        found: dict[str, tuple[str, HarnessInfo]] = {}
        for plugin, info in _answers(self._manager, "kg_harness"):
            if not isinstance(info, HarnessInfo):
                log.error("plugin %s: kg_harness answered %r instead of a HarnessInfo", plugin, info)
            elif info.name in found:
                log.error("plugin %s: the harness %s is served by %s already", plugin, info.name, found[info.name][0])
            else:
                found[info.name] = (plugin, info)
        return found

    def _find_transient_paths(self) -> frozenset[str]:
        found: set[str] = set()
        for plugin, names in _answers(self._manager, "kg_transient_paths"):
            found |= {name.casefold() for name in _all_of(str, names, f"plugin {plugin}: kg_transient_paths") if name}
        return frozenset(found)

    def _view(self, harness: str) -> pluggy.PluginManager:
        plugin, _ = self.harnesses[harness]
        return _manager({plugin: self._modules[plugin], DEFAULTS: defaults})

    def _hooks_of(self, name: str) -> tuple[str, ...]:
        callers = self._manager.get_hookcallers(self._manager.get_plugin(name)) or []
        return tuple(sorted(caller.name for caller in callers))


class HarnessView:
    """One harness's answers: its own plugin first, the defaults where it has none."""

    def __init__(self, info: HarnessInfo, manager: pluggy.PluginManager) -> None:
        self.info = info
        self.manager = manager

    def classify(self, event: str, payload: JsonObject) -> Event | None:
        """See `kg_classify_payload`."""
        return self._first("kg_classify_payload", event=event, payload=payload)  # type: ignore[no-any-return]

    def typed_text(self, prompt: str) -> str:
        """See `kg_typed_text`; empty when no plugin answers, or when the client's own plugin fails."""
        return str(self._first("kg_typed_text", stand_in=False, prompt=prompt) or "")

    def render(self, event: Event, reply: Reply) -> JsonObject | None:
        """See `kg_render_reply`; None when the client's own plugin fails: it would not know another shape."""
        return self._first("kg_render_reply", stand_in=False, event=event, reply=reply)  # type: ignore[no-any-return]

    def preload_limit(self, event: SessionStart) -> Limit:
        """See `kg_preload_limit`."""
        return self._first("kg_preload_limit", event=event) or defaults.REPLY_LIMIT

    def reply_limit(self, event: Event) -> Limit:
        """See `kg_reply_limit`."""
        return self._first("kg_reply_limit", event=event) or defaults.REPLY_LIMIT

    def file_touches(self, event: ToolUse) -> list[FileTouch]:
        """See `kg_file_touches`; none where the plugin answers something else."""
        return _all_of(FileTouch, self._first("kg_file_touches", event=event), f"{self.info.name}: kg_file_touches")

    def web_lookups(self, event: ToolUse) -> list[WebLookup]:
        """See `kg_web_lookups`; none where the plugin answers something else."""
        return _all_of(WebLookup, self._first("kg_web_lookups", event=event), f"{self.info.name}: kg_web_lookups")

    def sample_file_read(self, client_session: str, cwd: str, path: str) -> ToolUse | None:
        """See `kg_sample_file_read`."""
        return self._first(  # type: ignore[no-any-return]
            "kg_sample_file_read", client_session=client_session, cwd=cwd, path=path
        )

    def sample_payload(self, event: Event) -> tuple[str, JsonObject] | None:
        """See `kg_sample_payload`."""
        return self._first("kg_sample_payload", event=event)  # type: ignore[no-any-return]

    def _first(self, hook: str, *, stand_in: bool = True, **arguments: Any) -> Any:
        """The first answer; with `stand_in` the defaults also answer for a plugin that failed."""
        for _, answer in _answers(self.manager, hook, stop_at_failure=not stand_in, **arguments):
            return answer
        return None


def _all_of(kind: type[T], answer: Any, said_by: str) -> list[T]:
    """The records of a plugin's answer; none, and a log line, when it is no sequence of them."""
    if answer is None:
        return []
    if isinstance(answer, Sequence) and not isinstance(answer, str) and all(isinstance(one, kind) for one in answer):
        return list(answer)
    log.error("%s answered %.200r instead of a sequence of %s", said_by, answer, kind.__name__)
    return []


def installed(allow: Iterable[str] | None = None, block: Iterable[str] = ()) -> Plugins:
    """The plugins of the entry-point group `kg`: exactly those in `allow`, if given, and none in `block`."""
    allowed, blocked = None if allow is None else set(allow), set(block)
    modules: dict[str, ModuleType] = {}
    versions: dict[str, str] = {}
    for entry in entry_points(group=GROUP):
        if entry.name in blocked or (allowed is not None and entry.name not in allowed):
            continue
        module = _load(entry)
        if module is not None:
            modules[entry.name] = module
            versions[entry.name] = entry.dist.version if entry.dist else ""
    for name in (allowed or set()) - set(modules):
        log.warning("the plugin %s is allowed but not installed", name)
    versions[DEFAULTS] = version("kg-server")
    return Plugins(modules, versions)


def _load(entry: EntryPoint) -> ModuleType | None:
    try:
        module: ModuleType = entry.load()
    except Exception:  # a broken plugin must not take the others with it
        log.exception("the plugin %s could not be loaded and is left out", entry.name)
        return None
    return module


def _manager(modules: Mapping[str, object]) -> pluggy.PluginManager:
    manager = pluggy.PluginManager(GROUP)
    manager.add_hookspecs(specs)
    for name, module in modules.items():
        try:
            manager.register(module, name)
        except pluggy.PluginValidationError:
            log.exception("the plugin %s does not fit the hook specifications and is left out", name)
            if manager.has_plugin(name):
                manager.unregister(name=name)
        except ValueError:  # two entry points may name one module
            log.error("the plugin %s is the same module as another one and is left out", name)
    return manager


def _tell_unknown_hooks(manager: pluggy.PluginManager) -> None:
    """A hook that this server does not know is told and not called: the plugin may be newer than the server."""
    for name, caller in vars(manager.hook).items():
        if isinstance(caller, pluggy.HookCaller) and not caller.has_spec():
            for implementation in caller.get_hookimpls():
                log.warning(
                    "plugin %s: this server has no hook %s and never calls it", implementation.plugin_name, name
                )


def _answers(
    manager: pluggy.PluginManager, hook: str, *, stop_at_failure: bool = False, **arguments: Any
) -> Iterable[tuple[str, Any]]:
    """Each implementation's answer with its plugin's name, in call order, without the empty and the failed ones."""
    caller = getattr(manager.hook, hook)
    for implementation in reversed(caller.get_hookimpls()):
        wanted = [arguments[name] for name in implementation.argnames]
        try:
            answer = implementation.function(*wanted)
        except Exception:  # one plugin's fault is not its neighbour's
            log.exception("the plugin %s failed in %s and was skipped", implementation.plugin_name, hook)
            if stop_at_failure:
                return
            continue
        trace.debug("%s of %s(%s) answered %.200r", hook, implementation.plugin_name, wanted, answer)
        if answer is not None:
            yield implementation.plugin_name, answer
