"""A Secret that the settings name and that is not there stops the deployment, with the setting that asks for it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from components.errors import DeployError
from stacks.secrets import check_secrets, wanted
from tests.offline.stacks.examples import existing, settings, stack_file
from tests.offline.stacks.readers import Silent

if TYPE_CHECKING:
    from stacks.settings import Settings

KEYS = {"p0", "p1", "p2", "p3", "watchdog"}
STORE = {"name": "long", "url": "https://store.example.com/write", "secret": {"name": "store-login"}}
GRAFANA = {"grafana-login": {"password"}, "grafana-encryption": {"key"}}
"""What a stack file with Grafana names."""
RECEIVERS: dict[str, Any] = stack_file("staging")["plumbline:alertmanager"]["receivers"]


class Secrets(Silent):
    """Secrets of namespace plumbline: name → keys."""

    def __init__(self, there: dict[str, set[str]]) -> None:
        self.there, self.asked = there, list[str]()

    def secret_keys(self, namespace: str, name: str) -> frozenset[str] | None:
        self.asked.append(f"{namespace}/{name}")
        keys = self.there.get(name) if namespace == "plumbline" else None
        return None if keys is None else frozenset(keys)


def refusal(found: Settings, there: dict[str, set[str]]) -> str:
    with pytest.raises(DeployError) as caught:
        check_secrets(Secrets(there), found)
    return str(caught.value)


def test_secret_with_every_key_is_accepted_and_read_once() -> None:
    reader = Secrets({"alert-receivers": KEYS | {"more"}, **GRAFANA})
    check_secrets(reader, settings("staging"))
    names = ("alert-receivers", "grafana-login", "grafana-encryption")
    assert reader.asked == [f"plumbline/{name}" for name in names]


def test_missing_secret_is_named_with_the_setting_and_the_command_that_makes_it() -> None:
    message = refusal(settings("staging"), {})
    assert message.startswith("Secrets that the settings name are not there; nothing was changed:\n- ")
    assert (
        "Secret plumbline/alert-receivers is missing, which plumbline:alertmanager.receivers.P0[0].url_secret names"
    ) in message
    assert (
        "kubectl -n plumbline create secret generic alert-receivers --from-file=p0=<file> --from-file=p1=<file> "
        "--from-file=p2=<file> --from-file=p3=<file> --from-file=watchdog=<file>"
    ) in message
    assert "(if the namespace is missing: kubectl create namespace plumbline)" in message


def test_missing_key_is_named_with_the_setting_that_asks_for_it() -> None:
    message = refusal(settings("staging"), {"alert-receivers": KEYS - {"p2"}})
    assert (
        "Secret plumbline/alert-receivers has no key p2, which plumbline:alertmanager.receivers.P2[0].url_secret names"
    ) in message


def test_every_missing_key_and_secret_comes_in_one_message() -> None:
    found = settings("staging", prometheus={"remote_write": [STORE]})
    message = refusal(found, {"alert-receivers": {"p0", "watchdog"}, "store-login": {"username"}, **GRAFANA})
    assert message.count("\n- ") == 2
    assert "alert-receivers has no key p1, p2, p3, which plumbline:alertmanager.receivers.P1[0].url_secret" in message
    assert "store-login has no key password, which plumbline:prometheus.remote_write[0].secret names" in message


def test_settings_that_ask_are_told_by_secret_and_key() -> None:
    own_keys = {**STORE, "name": "other", "secret": {"name": "b", "username_key": "u", "password_key": "p"}}
    hook = {"url": "https://pager.example.com", "token": {"name": "pager", "key": "token"}}
    found = settings(
        "staging",
        prometheus={"remote_write": [{"name": "open", "url": "https://x"}, own_keys]},
        alertmanager={"receivers": RECEIVERS | {"P1": [{"url": "https://y"}, hook]}},
    )
    assert wanted(found) == {
        "b": {"u": "plumbline:prometheus.remote_write[1].secret", "p": "plumbline:prometheus.remote_write[1].secret"},
        "alert-receivers": {
            key: f"plumbline:alertmanager.receivers.{name}[0].url_secret"
            for key, name in (("p0", "P0"), ("p2", "P2"), ("p3", "P3"), ("watchdog", "watchdog"))
        },
        "pager": {"token": "plumbline:alertmanager.receivers.P1[1].token"},
        "grafana-login": {"password": "plumbline:grafana.admin.secret"},
        "grafana-encryption": {"key": "plumbline:grafana.encryption"},
    }


@pytest.mark.parametrize("name", ["P0", "P1", "P2", "P3", "watchdog"])
def test_each_receiver_is_asked_for_its_token(name: str) -> None:
    hook = {"url": "https://pager.example.com", "token": {"name": "pager", "key": "t"}}
    found = settings("local", None, alertmanager={"receivers": receivers_of_local() | {name: [hook]}})
    assert wanted(found) == {"pager": {"t": f"plumbline:alertmanager.receivers.{name}[0].token"}}


def receivers_of_local() -> dict[str, Any]:
    found: dict[str, Any] = stack_file("local")["plumbline:alertmanager"]["receivers"]
    return found


def test_receivers_of_an_alertmanager_that_is_not_deployed_need_no_secret() -> None:
    assert set(wanted(settings("staging", alertmanager={"mode": "off"}))) == set(GRAFANA)


def test_stack_without_a_prometheus_of_its_own_has_no_stores() -> None:
    assert set(wanted(existing())) == {"alert-receivers", *GRAFANA}


def test_stack_that_names_no_secret_asks_for_none() -> None:
    reader = Secrets({})
    check_secrets(reader, settings("local"))
    assert reader.asked == []
