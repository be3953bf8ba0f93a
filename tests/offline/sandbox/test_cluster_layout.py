"""Nothing of the cluster listens where others can reach it."""

from __future__ import annotations

import ipaddress

import pytest

from sandbox.cluster import layout
from sandbox.cluster.layout import LISTENERS, Listener


@pytest.mark.parametrize("listener", LISTENERS, ids=lambda item: f"{item.process} {item.purpose}")
def test_every_listener_is_on_loopback_or_the_bridge(listener: Listener) -> None:
    assert listener.address in ("127.0.0.1", "10.203.0.1")


def test_no_two_listeners_want_one_socket() -> None:
    sockets = [(item.address, item.port) for item in LISTENERS]
    assert len(sockets) == len(set(sockets))


def test_bridge_has_the_first_address_of_the_pods_network() -> None:
    assert str(next(ipaddress.ip_network(layout.POD_CIDR).hosts())) == layout.BRIDGE_ADDRESS


def test_api_service_has_the_first_address_of_the_services_network() -> None:
    assert str(next(ipaddress.ip_network(layout.SERVICE_CIDR).hosts())) == layout.SERVICE_ADDRESS


def test_networks_do_not_overlap() -> None:
    pods, services = ipaddress.ip_network(layout.POD_CIDR), ipaddress.ip_network(layout.SERVICE_CIDR)
    assert not pods.overlaps(services)


def test_networks_are_private() -> None:
    assert all(ipaddress.ip_network(cidr).is_private for cidr in (layout.POD_CIDR, layout.SERVICE_CIDR))


def test_api_is_reached_on_the_bridge() -> None:
    assert layout.API_URL == "https://10.203.0.1:6443"
