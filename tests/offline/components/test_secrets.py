"""Derived passwords are stable, separate and never visible; the vectors were worked out with hmac alone."""

from __future__ import annotations

import hashlib
import hmac
from base64 import urlsafe_b64encode

import pulumi
import pytest

from components.errors import DeployError
from components.kube import register
from components.secrets import Generated, derive, password, secret_manifest
from tests.offline.components.pulumi_mocks import record

ROOT = "0123456789abcdef" * 4


def rfc5869(root: str, info: str) -> str:
    """HKDF as RFC 5869 spells it: extract with 32 zero bytes as salt, then one block of expansion, cut to 24 bytes."""
    key = hmac.new(bytes(32), root.encode(), hashlib.sha256).digest()
    block = hmac.new(key, info.encode() + b"\x01", hashlib.sha256).digest()
    return urlsafe_b64encode(block[:24]).decode()


def test_fixed_vector() -> None:
    assert derive(ROOT, "grafana-admin", 1) == "ynZyu1N4cwsTrloQGLA0Y6OjAYtv4Ls3"


@pytest.mark.parametrize(("role", "generation"), [("grafana-admin", 2), ("postgresql", 1)])
def test_equals_the_standard(role: str, generation: int) -> None:
    assert derive(ROOT, role, generation) == rfc5869(ROOT, f"plumbline/{role}/{generation}")


def test_root_role_and_generation_each_change_the_value() -> None:
    values = {
        derive(ROOT, "a", 1),
        derive(ROOT, "a", 2),
        derive(ROOT, "b", 1),
        derive(ROOT.replace("0", "1"), "a", 1),
    }
    assert len(values) == 4


def test_short_root_is_refused_without_showing_it() -> None:
    with pytest.raises(DeployError, match="has 6 bytes, at least 32 are accepted") as caught:
        derive("canary", "a", 1)
    assert "canary" not in str(caught.value)


def test_generation_below_one_is_refused() -> None:
    with pytest.raises(DeployError, match="generation 0 of secret `a`"):
        derive(ROOT, "a", 0)


def test_values_are_secret_in_the_engine_even_from_a_plain_root() -> None:
    def program() -> None:
        value = password(pulumi.Output.from_input(ROOT), Generated(role="grafana-admin"))
        manifest = secret_manifest("grafana-admin", "plumbline", {}, {"password": value, "user": "admin"})
        register("grafana-admin", manifest, pulumi.ResourceOptions())

    found = record(program).named("grafana-admin").inputs["stringData"]
    # The SDK lifts secretness to the enclosing map; its signature marks the whole of it as one secret.
    assert pulumi.runtime.rpc.is_rpc_secret(found)
    assert pulumi.runtime.rpc.unwrap_rpc_secret(found) == {
        "password": "ynZyu1N4cwsTrloQGLA0Y6OjAYtv4Ls3",
        "user": "admin",
    }
