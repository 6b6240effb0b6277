"""The pluggy markers and the name of the entry-point group."""

from __future__ import annotations

import pluggy

GROUP = "kg"
"""Entry-point group and pluggy project name."""

hookimpl = pluggy.HookimplMarker(GROUP)
hookspec = pluggy.HookspecMarker(GROUP)
