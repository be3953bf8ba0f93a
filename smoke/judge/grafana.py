"""Grafana: well, closed, with the datasources and boards that were rendered for it.

Boards are compared by the hash of what was rendered, which leaves nothing out: a threshold, a unit and a link count as
much as a query. It is exact, because Grafana keeps a dashboard as the JSON that it was given, numbers as they were
written; it sets `id` and `version`, in which every database differs, and which are taken off. Where the hash differs,
records of the board say which panel it is.
"""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING, Any, Final

from smoke.model import Problem

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from signals.dashboards.model import Board, Panel
    from smoke.access.grafana import Reply
    from stacks.contract import DataSource, Grafana

Json = dict[str, Any]
OK: Final = 200
UNAUTHORIZED: Final = 401
REDIRECTS: Final = (301, 302, 303, 307, 308)
LOGIN: Final = "/login"
MISSING_PLUGIN: Final = "plugin.notRegistered"
OURS: Final = "plumbline-"
"""Begin of the uid of every board of ours, of whatever release."""
_SET_BY_GRAFANA: Final = ("id", "version")
_NAMED: Final = 3


def well(reply: Reply, image: str) -> list[Problem]:
    """What it says of itself. image: reference whose tag names the version, unless it has a digest alone."""
    if not isinstance(reply.found, dict):
        return [Problem("Grafana", str(reply), "its health as JSON")]
    problems = []
    if reply.status != OK or reply.found.get("database") != "ok":
        problems = [Problem("Grafana's database", f"{reply.found.get('database')} (HTTP {reply.status})", "ok")]
    version, tag = str(reply.found.get("version") or ""), tag_of(image)
    if not version or (tag and not _same(version, tag)):
        problems.append(Problem("Grafana's version", version or "none told", tag or "a version"))
    return problems


def tag_of(image: str) -> str:
    """Tag of a reference, empty without one; a port of the registry is none."""
    return image.partition("@")[0].rpartition("/")[2].partition(":")[2]


def _same(version: str, tag: str) -> bool:
    """A tag may say more: the base of the image, or what it was built from."""
    told = version.replace("+", "-")
    return tag.removeprefix("v") == told or tag.removeprefix("v").startswith(f"{told}-")


def strangers(replies: Mapping[str, Reply]) -> list[Problem]:
    """replies: path → answer to somebody without a password. The API refuses, pages lead to the login."""
    problems = []
    for path, reply in replies.items():
        api = path.startswith("/api/")
        led = reply.status in REDIRECTS and reply.location.rstrip("/").endswith(LOGIN)
        if reply.status != UNAUTHORIZED and (api or not led):
            expected = "HTTP 401" if api else f"HTTP 401, or a redirection to {LOGIN}"
            problems.append(Problem(f"{path} for a stranger", _short(reply), expected))
    return problems


def _short(reply: Reply) -> str:
    """Without the content: what a stranger was shown is not for the report."""
    return f"HTTP {reply.status}" + (f" to {reply.location}" if reply.location else "")


def doors(settings: Json, email: str) -> list[Problem]:
    """settings: as the administrator's browser gets them. email: of the account."""
    wanted = {
        "disableUserSignUp": (True, "sign-up", "off"),
        "anonymousEnabled": (False, "anonymous access", "off"),
    }
    problems = [
        Problem(f"Grafana's {what}", f"{key} is {settings.get(key)}", expected)
        for key, (value, what, expected) in wanted.items()
        if settings.get(key) is not value
    ]
    if "@" not in email:
        seen = "no e-mail address"
        problems.append(Problem("account admin", seen, "one, by which wrong passwords are tried without locking it"))
    return problems


def refused(replies: Mapping[str, Reply]) -> list[Problem]:
    """replies: who → answer to a login that must fail. An account has one password.

    So a Grafana that takes that of the Secret, and refuses one that is wrong, refuses those of earlier generations.
    """
    if not replies:
        return [Problem("logins that must fail", "none was tried", "one at least")]
    return [
        Problem(who, "accepted" if reply.status == OK else _short(reply), "HTTP 401")
        for who, reply in replies.items()
        if reply.status != UNAUTHORIZED
    ]


def datasources(promised: Sequence[DataSource], listed: Sequence[Json]) -> list[Problem]:
    """listed: as Grafana lists them. Others than those of ours are somebody's own."""
    if not promised:
        return [Problem("datasources", "none promised", "one at least", terminal=True)]
    return [problem for source in promised for problem in _datasource(source, listed)]


def _datasource(source: DataSource, listed: Sequence[Json]) -> list[Problem]:
    subject = f"datasource {source.name}"
    found = next((one for one in listed if one.get("uid") == source.uid), None)
    if found is None:
        named = [str(one.get("uid")) for one in listed if one.get("name") == source.name]
        return [Problem(subject, f"uid {named[0]}" if named else "not there", f"uid {source.uid}")]
    wanted = {"name": source.name, "type": source.type, "url": source.url}
    return [
        Problem(subject, f"{field} {found.get(field)}", f"{field} {value}")
        for field, value in wanted.items()
        if _field(field, found.get(field)) != _field(field, value)
    ]


def _field(name: str, value: object) -> object:
    return value.rstrip("/") if name == "url" and isinstance(value, str) else value


def answering(source: DataSource, reply: Reply) -> list[Problem]:
    """reply: to the question whether the datasource is well."""
    subject = f"datasource {source.name}"
    if reply.word == MISSING_PLUGIN:
        return [Problem(subject, f"plugin {source.type} is not installed", "its plugin")]
    asked_itself = isinstance(reply.found, dict) and "status" in reply.found and "message" in reply.found
    unwell = asked_itself and reply.found["status"] != "OK"
    if reply.status != OK or reply.found is None or unwell:
        return [Problem(subject, str(reply), "an answer of its store")]
    return []


def boards(
    promised: Grafana, known: Mapping[str, Board], listed: Sequence[Json], found: Mapping[str, Json | None]
) -> list[Problem]:
    """known: uid → record. listed: all dashboards, as search tells of them. found: uid → dashboard with its meta."""
    if not promised.boards:
        return [Problem("boards", "none promised", "one at least", terminal=True)]
    titles = {uid: _title(uid, known, found.get(uid)) for uid in promised.boards}
    problems = [
        problem
        for uid, digest in promised.boards.items()
        for problem in _board(titles[uid], digest, promised.folder, known.get(uid), found.get(uid))
    ]
    return problems + _strays(titles, listed)


def _title(uid: str, known: Mapping[str, Board], found: Json | None) -> str:
    if uid in known:
        return known[uid].title
    return str(((found or {}).get("dashboard") or {}).get("title") or uid)


def _board(title: str, digest: str, folder: str | None, known: Board | None, found: Json | None) -> list[Problem]:
    subject = f"board {title}"
    if found is None:
        return [Problem(subject, "not there", "provisioned")]
    meta, content = found.get("meta") or {}, found.get("dashboard") or {}
    problems = []
    if folder is not None and meta.get("folderUid") != folder:
        problems.append(Problem(subject, f"in folder {meta.get('folderUid') or 'none'}", f"in folder {folder}"))
    if meta.get("provisioned") is not True:
        problems.append(Problem(subject, "in the database alone, so that anybody may change it", "provisioned"))
    if digest_of(content) != digest:
        seen = "; ".join(differences(known, content)[:_NAMED]) or "changed beside its panels"
        problems.append(Problem(subject, f"another content: {seen}", f"what was rendered, {digest[:12]}"))
    return problems


def digest_of(content: Json) -> str:
    """SHA-256 of a dashboard as it is rendered."""
    own = {key: value for key, value in content.items() if key not in _SET_BY_GRAFANA}
    text = json.dumps(own, indent=1, sort_keys=True, ensure_ascii=False) + "\n"
    return hashlib.sha256(text.encode()).hexdigest()


def differences(known: Board | None, content: Json) -> list[str]:
    """Panels in which a dashboard differs from its record, as far as the record says."""
    if known is None:
        return ["no board of this uid is known here: another checkout than this one has deployed"]
    shown = {str(one.get("title")): one for one in content.get("panels") or [] if one.get("type") != "row"}
    wanted = {panel.title: panel for panel in known.panels}
    told = [f"panel {title} is missing" for title in wanted if title not in shown]
    told += [f"panel {title} is not ours" for title in shown if title not in wanted]
    return told + [line for title, panel in wanted.items() if title in shown for line in _panel(panel, shown[title])]


def _panel(panel: Panel, shown: Json) -> list[str]:
    defaults = (shown.get("fieldConfig") or {}).get("defaults") or {}
    steps = [step.get("value") for step in (defaults.get("thresholds") or {}).get("steps") or []]
    limits = {value for value in (panel.limits.warn, panel.limits.bad) if value is not None} if panel.limits else set()
    parts = {
        "queries": [one.get("expr") for one in shown.get("targets") or []] == [one.expr for one in panel.queries],
        "unit": defaults.get("unit") == panel.unit.value,
        "thresholds": not panel.limits or {value for value in steps if value is not None} == limits,
        "kind": shown.get("type") == panel.kind.value,
    }
    return [f"panel {panel.title} has other {part}" for part, same in parts.items() if not same]


def _strays(titles: Mapping[str, str], listed: Sequence[Json]) -> list[Problem]:
    """Boards under a title of ours that are not ours, and boards of ours that this release does not have."""
    problems = []
    for one in listed:
        uid, title = str(one.get("uid")), str(one.get("title"))
        if uid in titles:
            continue
        if title in titles.values():
            problems.append(Problem(f"board {title}", f"a second one, uid {uid}", "one of this title"))
        elif uid.startswith(OURS):
            problems.append(Problem(f"board {title}", f"left of another release, uid {uid}", "none"))
    return problems
