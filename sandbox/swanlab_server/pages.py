"""The process `pages`: something to look at where the real front end would be."""

from __future__ import annotations

import html
from typing import TYPE_CHECKING

from sandbox.swanlab_server import web
from sandbox.swanlab_server.web import Answer, Call, Endpoint

if TYPE_CHECKING:
    from starlette.applications import Starlette

    from sandbox.swanlab_server.settings import PagesSettings

_PAGE = """<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><title>Stand-in for SwanLab</title></head>
<body>
<h1>Stand-in for SwanLab</h1>
<p>This installation imitates the interface that the SDKs use. It has no charts.</p>
<p>SDKs reach it at {where}.</p>
</body>
</html>
"""


def app(settings: PagesSettings) -> Starlette:
    """The application: one page for every path."""
    page = _PAGE.format(where=html.escape(settings.public_host or "the address of this page"))

    def show(_context: None, _call: Call) -> Answer:
        return Answer(text=page, headers={"content-type": "text/html; charset=utf-8"})

    endpoints = (Endpoint("GET", "/", show, account=False), Endpoint("GET", "/{path:path}", show, account=False))
    return web.application(web.Server(context=None, identify=lambda _sid: None), endpoints)
