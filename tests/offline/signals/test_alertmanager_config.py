"""Alertmanager's configuration as data: what is rendered, and how a running one is compared with it."""

from __future__ import annotations

from typing import Any

import pytest
import yaml
from pydantic import TypeAdapter, ValidationError

from signals.alertmanager_config import (
    Receiver,
    Webhook,
    config_hash,
    differences,
    document,
    render,
    seconds,
)
from signals.routing import RECEIVERS

ROUTE: dict[str, Any] = {
    "receiver": "P1",
    "group_by": ["cluster", "alertname"],
    "repeat_interval": "24h",
    "routes": [{"receiver": "P0", "matchers": ["severity = P0", 'cluster!="x"'], "group_wait": "90s"}],
}
INHIBIT = [{"source_matchers": ['severity="P0"'], "target_matchers": ['severity=~"P2|P3"'], "equal": ["node"]}]
PEOPLE = (
    Receiver(name="P0", webhooks=(Webhook(url_file="/s/url", credentials_file="/s/token", send_resolved=False),)),
    Receiver(name="P1", webhooks=(Webhook(url="https://on-call.example/hook"),)),
)

# As /api/v2/status of Alertmanager 0.31.1 shows the configuration above, `global` cut short.
SHOWN = """
global:
  resolve_timeout: 5m
route:
  receiver: P1
  group_by:
  - cluster
  - alertname
  continue: false
  routes:
  - receiver: P0
    matchers:
    - cluster!="x"
    - severity="P0"
    continue: false
    group_wait: 1m30s
  repeat_interval: 1d
inhibit_rules:
- source_matchers:
  - severity="P0"
  target_matchers:
  - severity=~"P2|P3"
  equal:
  - node
receivers:
- name: P0
  webhook_configs:
  - send_resolved: false
    http_config:
      authorization:
        type: Bearer
        credentials_file: /s/token
      follow_redirects: false
      enable_http2: true
    url_file: /s/url
    max_alerts: 0
    timeout: 10s
- name: P1
  webhook_configs:
  - send_resolved: true
    http_config:
      follow_redirects: false
      enable_http2: true
    url: <secret>
    url_file: ""
    max_alerts: 0
    timeout: 10s
templates: []
"""


def shown(old: str, new: str) -> str:
    assert old in SHOWN
    return SHOWN.replace(old, new, 1)


def test_receivers_are_the_severities_and_the_watchdog() -> None:
    assert RECEIVERS == ("P0", "P1", "P2", "P3", "watchdog")


def test_credentials_are_paths() -> None:
    assert document(PEOPLE, ROUTE, INHIBIT)["receivers"][0]["webhook_configs"] == [
        {
            "url_file": "/s/url",
            "send_resolved": False,
            "timeout": "10s",
            "http_config": {
                "follow_redirects": False,
                "authorization": {"type": "Bearer", "credentials_file": "/s/token"},
            },
        }
    ]


def test_text_holds_the_document() -> None:
    assert yaml.safe_load(render(PEOPLE, ROUTE, INHIBIT)) == document(PEOPLE, ROUTE, INHIBIT)


def test_same_data_gives_the_same_bytes() -> None:
    assert render(PEOPLE, ROUTE, INHIBIT) == render(PEOPLE, dict(ROUTE), list(INHIBIT))


@pytest.mark.parametrize(("url", "file"), [(None, None), ("http://a", "/a")])
def test_webhook_has_exactly_one_address(url: str | None, file: str | None) -> None:
    with pytest.raises(ValueError, match="exactly one of url and url_file"):
        Webhook(url=url, url_file=file)


def test_receiver_tells_somebody() -> None:
    with pytest.raises(ValueError, match="receiver P0 has no webhook; accepted is at least one"):
        Receiver(name="P0", webhooks=())


def test_receivers_survive_the_contract() -> None:
    contract = TypeAdapter(tuple[Receiver, ...])
    assert contract.validate_json(contract.dump_json(PEOPLE)) == PEOPLE
    with pytest.raises(ValidationError, match="at least one"):
        contract.validate_json('[{"name": "P0", "webhooks": []}]')


def test_hash_is_six_bytes_of_md5_from_the_right_end() -> None:
    # MD5 of the empty text is d41d8cd98f00b204e9800998ecf8427e (RFC 1321): 0x00_8f_d9_8c_1d_d4.
    assert config_hash("") == float(0x008FD98C1DD4)


def test_hash_changes_with_an_address() -> None:
    assert config_hash("url: http://a") != config_hash("url: http://b")


def test_own_words_of_alertmanager_are_no_difference() -> None:
    assert differences(SHOWN, render(PEOPLE, ROUTE, INHIBIT)) == []


@pytest.mark.parametrize(
    ("running", "what"),
    [
        (shown("receiver: P1", "receiver: P0"), "route.receiver: runs 'P0', rendered is 'P1'"),
        (shown('severity="P0"', 'severity="P1"'), "route.routes[0].matchers: "),
        (shown('severity="P0"', 'severity=~"P0"'), "route.routes[0].matchers: "),
        (shown("repeat_interval: 1d", "repeat_interval: 2d"), "route.repeat_interval: runs 172800, rendered is 86400"),
        (shown("  - alertname\n", ""), "route.group_by: "),
        (shown("continue: false", "continue: true"), "route.continue: runs True, rendered is nothing"),
        (shown("    group_wait: 1m30s\n", ""), "route.routes[0].group_wait: runs without it, rendered is '90s'"),
        (shown("  - node\n", "  - cluster\n"), "inhibit_rules[0].equal: "),
        (shown("/s/token", "/s/other"), "receivers[0].webhook_configs[0].http_config.authorization.credentials_file: "),
        (shown("templates: []", "templates: [/a.tmpl]"), "templates: runs ['/a.tmpl'], rendered is nothing"),
        (SHOWN.partition("- name: P1")[0], "receivers: runs 1 entries, rendered are 2"),
        ("", "the document: runs None"),
    ],
)
def test_difference_is_named_by_its_path(running: str, what: str) -> None:
    found = differences(running, render(PEOPLE, ROUTE, INHIBIT))
    assert any(line.startswith(what) for line in found), found


def test_a_visible_address_is_compared() -> None:
    running = shown("url: <secret>", "url: https://elsewhere.example/hook")
    assert differences(running, render(PEOPLE, ROUTE, INHIBIT)) == [
        "receivers[1].webhook_configs[0].url: runs 'https://elsewhere.example/hook', rendered is "
        "'https://on-call.example/hook'"
    ]


@pytest.mark.parametrize(("text", "expected"), [("5m", 300), ("1m30s", 90), ("1d", 86_400), ("0s", 0), ("500ms", 0.5)])
def test_durations(text: str, expected: float) -> None:
    assert seconds(text) == expected


@pytest.mark.parametrize("text", ["", "5", "1.5h", "5 m", "m", "5x"])
def test_what_is_no_duration_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="is not a duration: accepted are whole numbers"):
        seconds(text)
