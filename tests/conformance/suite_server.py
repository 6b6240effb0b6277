"""The app with the token added to every request from outside, for programs that cannot send a header."""

from __future__ import annotations

import os

import uvicorn
from kg_server.service.assembly import assemble
from kg_server.settings import read_settings
from kg_server.storage.layout import Layout
from kg_server.web.app import create_app
from kg_server.web.run import listen
from starlette.types import ASGIApp, Receive, Scope, Send


class WithToken:
    """Hands requests on as if their sender had the token; whatever else the app demands stays in force."""

    def __init__(self, app: ASGIApp, token: str) -> None:
        self._app = app
        self._header = (b"authorization", f"Bearer {token}".encode())

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """One request, or the life of the app."""
        if scope["type"] != "lifespan":
            scope = {**scope, "headers": [*scope["headers"], self._header]}
        await self._app(scope, receive, send)


def main() -> None:
    """Serve with the settings and the token of the environment."""
    settings = read_settings(os.environ)
    token = os.environ["SUITE_TOKEN"]
    settings.storage_root.mkdir(parents=True)
    app = create_app(assemble(settings, Layout(settings.storage_root)), settings, token)
    listener = listen(settings.host, settings.port)
    served = WithToken(app, token)
    config = uvicorn.Config(served, log_level="warning", lifespan="on", ws="none", timeout_graceful_shutdown=2)
    uvicorn.Server(config).run(sockets=[listener])


if __name__ == "__main__":
    main()
