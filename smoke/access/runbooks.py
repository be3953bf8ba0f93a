"""Whether a runbook exists: in this checkout, or behind an address."""

from __future__ import annotations

from pathlib import Path

import requests

from smoke import limits

ROOT = Path(__file__).parents[2]


def missing(url: str) -> str:
    """Why nobody can open this runbook; empty if it is there. Relative addresses are paths in the repository."""
    if not url:
        return "no address"
    if not url.startswith(("http://", "https://")):
        path = (ROOT / url).resolve()
        return "" if path.is_relative_to(ROOT) and path.is_file() else f"no file {url} in this checkout"
    try:
        answer = requests.get(url, timeout=(limits.CONNECT, limits.REQUEST), stream=True)
    except requests.RequestException as error:
        return f"{url} gives no answer ({type(error).__name__})"
    with answer:
        return "" if answer.ok else f"{url} gives HTTP {answer.status_code}"
