"""The markers that plugins are written with."""

from __future__ import annotations

from importlib.metadata import entry_points

import kg_server
import pluggy
from kg_server.plugins import GROUP, hookimpl
from kg_server.plugins import markers as markers_module


def test_plugins_are_found_under_the_group_named_kg() -> None:
    assert GROUP == "kg"
    assert entry_points(group=GROUP) is not None


def test_a_plugin_imports_its_marker_from_the_package_itself() -> None:
    assert kg_server.hookimpl is hookimpl is markers_module.hookimpl


def test_the_marker_is_pluggys_for_our_group() -> None:
    @hookimpl
    def kg_harness() -> None:
        return None

    manager = pluggy.PluginManager(GROUP)
    assert manager.parse_hookimpl_opts(type("Plugin", (), {"kg_harness": staticmethod(kg_harness)}), "kg_harness")
