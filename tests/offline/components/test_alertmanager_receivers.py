"""A receiver that tells nobody, or tells a secret to everybody, is refused by name."""

from __future__ import annotations

from dataclasses import replace

import pytest

from components.alertmanager.args import AlertmanagerArgs, Receiver, Webhook
from components.alertmanager.receivers import complaints, enforce
from components.errors import DeployError
from components.secrets import Existing
from signals.routing import RECEIVERS
from tests.offline.components.alertmanager_examples import ARGS, PEOPLE, told

SECRET = Existing(name="pager", key="url")


def with_webhook(*webhooks: Webhook) -> AlertmanagerArgs:
    return replace(ARGS, receivers=told("P2", *webhooks))


def test_examples_are_accepted() -> None:
    assert complaints(ARGS) == []
    enforce(ARGS)


@pytest.mark.parametrize("name", RECEIVERS)
def test_every_receiver_must_be_there(name: str) -> None:
    found = complaints(replace(ARGS, receivers=tuple(one for one in PEOPLE if one.name != name)))
    assert len(found) == 1
    assert found[0].startswith(f"{name}: nobody receives ")
    assert found[0].endswith("; give it at least one webhook")


def test_a_receiver_that_is_there_twice_is_refused() -> None:
    assert complaints(replace(ARGS, receivers=(*PEOPLE, PEOPLE[0]))) == [
        "P0: is there 2 times; accepted is one with several webhooks"
    ]


def test_a_receiver_that_no_route_knows_is_refused() -> None:
    nobody = Receiver(name="P4", webhooks=(Webhook(url="https://a.example"),))
    assert complaints(replace(ARGS, receivers=(*PEOPLE, nobody))) == [
        "P4: no alert is routed to it; accepted are P0, P1, P2, P3, watchdog"
    ]


def test_retention_that_is_no_duration_is_refused() -> None:
    assert complaints(replace(ARGS, retention="long")) == [
        "retention: `long` is not a duration: accepted are whole numbers with y, w, d, h, m, s or ms"
    ]


@pytest.mark.parametrize(
    ("webhooks", "what"),
    [
        ((), "has no webhook, so nobody is told"),
        ((Webhook(),), "webhook 1 has no address"),
        ((Webhook(url="https://a.example", url_secret=SECRET),), "webhook 1 has two"),
        ((Webhook(url="https://a.example"), Webhook(url="https://a.example")), "webhook 2 is there twice"),
        ((Webhook(url="a.example/hook"),), "webhook 1: url has no host or another scheme"),
        ((Webhook(url="ftp://a.example"),), "webhook 1: url has no host or another scheme"),
        ((Webhook(url="http://"),), "webhook 1: url has no host or another scheme"),
        ((Webhook(url="http://[::1"),), "webhook 1: url cannot be parsed"),
        ((Webhook(url="https://{{ .x"),), "webhook 1: url is a template"),
        ((Webhook(url="https://me:canary@a.example"),), "webhook 1: url holds a login"),
        ((Webhook(url="https://hooks.slack.com/services/T0/B0/canary"),), "webhook 1: url has a path that is a secret"),
        ((Webhook(url="https://api.telegram.org/bot1:canary/sendMessage"),), "webhook 1: url has a path that is a"),
        ((Webhook(url="https://a.example/9e107d9d372bb6826bd81d3542a419d6"),), "webhook 1: url has a path that is a"),
        ((Webhook(url="https://a.example/?access_token=canary"),), "webhook 1: url holds the parameter access_token"),
    ],
)
def test_a_broken_webhook_is_named(webhooks: tuple[Webhook, ...], what: str) -> None:
    found = complaints(with_webhook(*webhooks))
    assert len(found) == 1
    assert found[0].startswith(f"P2: {what}")
    assert "canary" not in found[0]


def test_all_faults_are_told_at_once() -> None:
    with pytest.raises(DeployError, match=r"(?s)the receivers of Alertmanager:\n- P3: nobody.*\n- P2: has no webhook"):
        enforce(replace(ARGS, receivers=tuple(one for one in told("P2") if one.name != "P3")))
