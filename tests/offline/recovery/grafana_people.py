"""Accounts, teams and the organisation of the stand-in for Grafana, see grafanas.py."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import count
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Iterator

Json = dict[str, Any]
Answer = tuple[int, Any]
MISSING: Final = (404, {"message": "Not found"})
DONE: Final = (200, {"message": "done"})
ADMIN: Final = {"id": 1, "login": "admin", "name": "", "email": "admin@localhost", "isAdmin": True, "isDisabled": False}


@dataclass
class People:
    """members: team → account → permission. passwords: that were given. page: largest page that it gives."""

    page: int = 5000
    users: dict[int, Json] = field(default_factory=lambda: {1: dict(ADMIN)})
    roles: dict[int, str] = field(default_factory=lambda: {1: "Admin"})
    passwords: dict[int, str] = field(default_factory=dict)
    teams: dict[int, Json] = field(default_factory=dict)
    members: dict[int, dict[int, int]] = field(default_factory=dict)
    preferences: dict[str, str] = field(default_factory=dict)
    numbers: Iterator[int] = field(default_factory=lambda: count(2))

    def paged(self, found: list[Any], query: dict[str, str], size: str) -> list[Any]:
        """The page of a list that is asked for."""
        per, page = min(int(query[size]), self.page), int(query["page"])
        return found[(page - 1) * per : page * per]

    def of_teams(self, method: str, parts: list[str], query: dict[str, str], body: Json) -> Answer:
        """/api/teams."""
        if method == "POST" and not parts:
            number = next(self.numbers)
            self.teams[number] = {"id": number, "name": body["name"], "email": body["email"]}
            self.members[number] = {1: 4}
            return 200, {"teamId": number}
        if parts == ["search"]:
            return 200, {"teams": self.paged(list(self.teams.values()), query, "perpage")}
        number = int(parts[0])
        if number not in self.teams:
            return 404, {"message": "Team not found"}
        if parts[1:2] == ["members"]:
            return self._members(method, number, parts[2:], body)
        del self.teams[number]
        return DONE

    def _members(self, method: str, team: int, parts: list[str], body: Json) -> Answer:
        there = self.members[team]
        if method == "GET":
            found = [{"userId": n, "login": self.users[n]["login"], "permission": p} for n, p in there.items()]
            return 200, found
        number = int(parts[0]) if parts else int(body["userId"])
        if method == "POST" and number in there:
            return 400, {"message": "User is already added to this team"}
        if method == "DELETE":
            del there[number]
        else:
            there[number] = body.get("permission", 0)
        return DONE

    def of_org(self, method: str, parts: list[str], _query: dict[str, str], body: Json) -> Answer:
        """/api/org."""
        if parts == ["preferences"]:
            if method == "PATCH":
                self.preferences |= body
            return 200, {"homeDashboardId": 0, "theme": "", "timezone": "", **self.preferences}
        if method == "PATCH":
            self.roles[int(parts[1])] = body["role"]
            return DONE
        return 200, [{"userId": n, "login": self.users[n]["login"], "role": role} for n, role in self.roles.items()]

    def of_admin(self, method: str, parts: list[str], _query: dict[str, str], body: Json) -> Answer:
        """/api/admin."""
        if parts == ["users"]:
            if any(body["login"] == one["login"] or body["email"] == one["email"] for one in self.users.values()):
                return 412, {"message": "User with email or username already exists"}
            number, email = next(self.numbers), body["email"] or body["login"]
            made = {"login": body["login"], "name": body["name"], "email": email}
            self.users[number] = {"id": number, **made, "isAdmin": False, "isDisabled": False}
            self.roles[number], self.passwords[number] = "Viewer", body["password"]
            return 200, {"id": number}
        number = int(parts[1])
        if method == "DELETE":
            del self.users[number], self.roles[number]
        elif parts[2] == "permissions":
            self.users[number]["isAdmin"] = body["isGrafanaAdmin"]
        else:
            self.users[number]["isDisabled"] = parts[2] == "disable"
        return DONE
