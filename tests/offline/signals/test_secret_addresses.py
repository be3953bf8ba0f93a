"""Addresses that are credentials are told from those that are not, and shown without what is secret."""

from __future__ import annotations

import random

import pytest

from signals.secret_addresses import masked, secret_path

SECRET = {
    "https://hooks.slack.com/services/T000/B000/xxxx": "https://hooks.slack.com/services/[mask]",
    "https://hooks.slack.com/workflows/T0/A0/1": "https://hooks.slack.com/workflows/[mask]",
    "https://api.telegram.org/bot123:AA-bb_cc/sendMessage": "https://api.telegram.org/bot[mask]",
    "https://discord.com/api/webhooks/1234/short": "https://discord.com/api/webhooks/[mask]",
    "https://x.webhook.office.com/webhookb2/a@b/IncomingWebhook/c/d": "https://x.webhook.office.com/webhookb2/[mask]",
    "https://hc-ping.com/my-slug-key/plumbline": "https://hc-ping.com/[mask]",
    "https://nosnch.in/c2354d53d2": "https://nosnch.in/[mask]",
    "https://events.pagerduty.com/integration/0a/enqueue": "https://events.pagerduty.com/integration/[mask]",
    "https://relay.example.com/bot42:abc/send": "https://relay.example.com/[mask]/send",
    "https://a.example/ping/6f9619ff-8b86-d011-b42d-00cf4fc964ff": "https://a.example/ping/[mask]",
    "https://a.example/hook/9e107d9d372bb6826bd81d3542a419d6/in": "https://a.example/hook/[mask]/in",
    "https://a.example/h/Zk3vQ9xR2mT7bL5wY8pN?x=1": "https://a.example/h/[mask]?x=1",
    "https://HOOKS.slack.com:443/services/T0": "https://HOOKS.slack.com:443/services/[mask]",
}
PLAIN = [
    "http://alert-sink.plumbline-sandbox.svc:8080/P0",
    "http://alert-sink.plumbline-sandbox.svc:8080/watchdog",
    "https://pager.example.com/v1/alerts",
    "https://pager.example.com/",
    "https://pager.example.com",
    "https://hooks.slack.com/",
    "https://hooks.example.com/services/payments/alerts",
    "https://events.pagerduty.com/v2/enqueue",
    "https://a.example/plumbline-prod-eu-west-1-gpu-a100-80gb/alertmanager-v2",
    "https://a.example/AlertManagerWebhookReceiverV2",
    "https://a.example/kubernetesmonitoringalerts2026",
    "https://a.example/2026-11-29/20261129214400000",
    "http://10.88.0.7:9090/api/v1/label/__name__/values?match%5B%5D=up",
    "https://10.96.0.1/apis/monitoring.coreos.com/v1alpha1/namespaces/plumbline/scrapeconfigs",
    "http://prometheus.plumbline.svc/api/v1/query?query=DCGM_FI_DEV_FB_FREE",
]


@pytest.mark.parametrize("address", SECRET)
def test_path_that_is_a_secret_is_seen_and_masked(address: str) -> None:
    assert secret_path(address)
    shown = masked(f"sent to {address}, 404", "[mask]")
    assert shown == f"sent to {SECRET[address]}, 404"
    assert masked(shown, "[mask]") == shown


@pytest.mark.parametrize("address", PLAIN)
def test_ordinary_path_is_none(address: str) -> None:
    assert not secret_path(address)
    assert masked(f"sent to {address}.", "[mask]") == f"sent to {address}."


@pytest.mark.parametrize("alphabet", ["0123456789abcdef", "abcdefghijklmnopqrstuvwxyz0123456789"])
def test_long_random_segments_are_seen(alphabet: str) -> None:
    chance = random.Random(7)  # noqa: S311  # not for cryptography: examples that are the same each time
    drawn = ["".join(chance.choices(alphabet, k=40)) for _ in range(200)]
    assert sum(secret_path(f"https://a.example/in/{one}") for one in drawn) >= 190


def test_what_cannot_be_parsed_is_left_alone() -> None:
    assert masked("see http://[::1/x", "[mask]") == "see http://[::1/x"
