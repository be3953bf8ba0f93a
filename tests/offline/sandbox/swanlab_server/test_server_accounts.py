"""Activation, accounts and keys on real stores."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

import psycopg

from tests.offline.sandbox.swanlab_server.server_driver import Client
from tests.offline.sandbox.swanlab_server.server_site import PASSWORD, project

if TYPE_CHECKING:
    from tests.offline.sandbox.swanlab_server.server_site import Site


def test_nobody_gets_in_before_activation(site: Site) -> None:
    before = site.client.ask("GET", "/api/self_hosted/info").body
    assert before == {"enabled": False, "expired": False, "root": False, "plan": "free", "seats": 0}
    refused = site.client.ask("POST", "/api/login/api_key", authorization="a" * 21)
    assert (refused.status, refused.body["code"]) == (401, "Unverified")


def test_activation_makes_the_root_account_once(site: Site) -> None:
    root = site.activate(seats=2)
    info = root.ask("GET", "/api/self_hosted/info").body
    assert (info["enabled"], info["expired"], info["root"]) == (True, False, True)
    assert (info["plan"], info["seats"]) == ("free", 1)
    other = {"username": "mallory", "password": "another-one", "licence": "x"}
    assert site.client.ask("POST", "/api/self_hosted/activate", other).status == 403
    again = {"username": "root", "password": PASSWORD, "licence": '{"seats": 9}'}
    assert site.client.ask("POST", "/api/self_hosted/activate", again).status == 200
    assert root.ask("GET", "/api/self_hosted/info").body["seats"] == 8


def test_an_expired_licence_lets_nobody_log_in(site: Site) -> None:
    body = {"username": "root", "password": PASSWORD, "licence": '{"expiredAt": "2020-01-01T00:00:00.000Z"}'}
    site.client.ask("POST", "/api/self_hosted/activate", body)
    assert site.client.ask("GET", "/api/self_hosted/info").body["expired"] is True
    refused = site.client.ask("POST", "/api/login", {"username": "root", "password": PASSWORD})
    assert (refused.status, refused.body["code"]) == (401, "Licence_Expired")


def test_a_wrong_password_and_an_unknown_name_are_refused_alike(site: Site) -> None:
    site.activate()
    for body in ({"username": "root", "password": "wrong-horse"}, {"username": "nobody", "password": PASSWORD}):
        refused = site.client.ask("POST", "/api/login", body)
        assert (refused.status, refused.body["code"]) == (401, "Wrong_Credentials")


def test_an_api_key_logs_in_for_more_than_a_week_until_it_is_deleted(site: Site) -> None:
    root = site.activate()
    key = root.ask("POST", "/api/user/api_key").body
    answered = site.client.ask("POST", "/api/login/api_key", authorization=key["key"])
    assert answered.body["userInfo"] == {"username": "root", "name": "root"}
    expires = datetime.strptime(answered.body["expiredAt"], "%Y-%m-%dT%H:%M:%S.%fZ").replace(tzinfo=UTC)
    assert (expires - datetime.now(UTC)).days > 7
    sdk = Client(site.client.app, sid=answered.body["sid"])
    assert sdk.ask("GET", "/api/user/profile").body["username"] == "root"
    assert root.ask("DELETE", f"/api/user/api_key/{key['id']}").status == 204
    assert sdk.ask("GET", "/api/user/profile").status == 401
    assert site.client.ask("POST", "/api/login/api_key", authorization=key["key"]).status == 401


def test_a_session_ends_with_its_logout(site: Site) -> None:
    root = site.activate()
    assert root.ask("POST", "/api/logout").status == 204
    assert root.ask("GET", "/api/user/profile").status == 401


def test_no_secret_is_in_the_database_as_it_is(site: Site) -> None:
    key = site.activate().ask("POST", "/api/user/api_key").body["key"]
    with psycopg.connect(site.postgres.primary) as connection:
        rows = connection.execute("SELECT users::text, api_keys::text FROM users, api_keys").fetchall()
    assert len(rows) == 1
    assert PASSWORD not in str(rows)
    assert key not in str(rows)


def test_keys_are_listed_without_their_secret(site: Site) -> None:
    root = site.activate()
    made = root.ask("POST", "/api/user/key", {"name": "ci"}).body
    (listed,) = root.ask("GET", "/api/user/key").body
    assert (listed["id"], listed["name"]) == (made["id"], "ci")
    assert made["key"] not in str(listed)
    assert root.ask("GET", "/api/user/key/latest").body == listed


def test_users_take_seats_and_see_no_private_project_of_others(site: Site) -> None:
    root = site.activate(seats=2)
    users = [{"username": "bob", "password": PASSWORD}]
    assert root.ask("POST", "/api/self_hosted/users", {"users": users}).status == 201
    more = [{"username": "carol", "password": PASSWORD}]
    assert root.ask("POST", "/api/self_hosted/users", {"users": more}).status == 403
    bob = site.login("bob")
    assert bob.ask("GET", "/api/self_hosted/users").status == 403
    project(root, "hidden")
    root.ask("POST", "/api/project", {"name": "shown", "visibility": "PUBLIC"})
    assert bob.ask("GET", "/api/project/root/hidden").status == 404
    assert bob.ask("GET", "/api/project/root/shown").status == 200
    assert [item["name"] for item in bob.ask("GET", "/api/project/root").body["list"]] == ["shown"]
    assert bob.ask("DELETE", "/api/project/root/shown").status == 403
    assert bob.ask("POST", "/api/project", {"name": "mine", "username": "root"}).status == 403


def test_root_sees_how_much_there_is(site: Site) -> None:
    root = site.activate()
    project(root)
    assert root.ask("GET", "/api/self_hosted/summary").body == {"users": 1, "projects": 1, "experiments": 0}
    assert [item["username"] for item in root.ask("GET", "/api/self_hosted/users").body["list"]] == ["root"]
    assert [item["name"] for item in root.ask("GET", "/api/self_hosted/projects").body["list"]] == ["p"]
