"""Series budgets and scrape limits, by hand: what each object of a cluster costs, and which target is the largest."""

from __future__ import annotations

import pytest

from signals.budget import samples_per_scrape, series
from signals.catalogue import PRODUCERS
from signals.catalogue.model import Budget, Producer
from signals.thresholds import Sizing

SIZING = Sizing(api_servers=2, nodes=4, gpu_nodes=3, gpus_per_node=8, pods=100, pods_per_node=40)


def page(budget: dict[str, int], *, on_every_node: bool) -> Producer:
    planned = Budget(**budget)
    return Producer(
        job="x", title="X", versions="1", target_labels=(), per_node=on_every_node, metrics=(), budget=planned
    )


@pytest.mark.parametrize(
    ("budget", "once", "on_every_node"),
    [
        ({"fixed": 7}, 7, 7),
        ({"per_target": 10}, 10, 40),  # 4 nodes
        ({"per_node": 10}, 40, 40),
        ({"per_gpu": 10}, 240, 240),  # 3 nodes with 8 GPUs, wherever they are told of
        ({"per_pod": 10}, 1000, 1000),
        ({"per_api_server": 10}, 20, 20),
        ({"fixed": 1, "per_target": 2, "per_node": 3, "per_gpu": 4, "per_pod": 5}, 611, 617),
    ],
    ids=str,
)
def test_budget_of_a_job_is_the_sum_over_what_the_cluster_holds(
    budget: dict[str, int], once: int, on_every_node: int
) -> None:
    """The last one: 1 + 2 (or 2 · 4) + 3 · 4 + 4 · 24 + 5 · 100."""
    assert series(page(budget, on_every_node=False), SIZING) == once
    assert series(page(budget, on_every_node=True), SIZING) == on_every_node


def test_budget_of_a_job_with_several_targets_counts_each() -> None:
    assert series(page({"per_target": 10}, on_every_node=False), SIZING, targets=3) == 30
    assert series(page({"per_target": 10}, on_every_node=True), SIZING, targets=3) == 40


@pytest.mark.parametrize(
    ("budget", "whole", "one_node"),
    [
        ({"fixed": 7}, 11, 11),  # 10.5, rounded up
        ({"per_target": 10}, 15, 15),
        ({"per_node": 10}, 60, 15),
        ({"per_api_server": 10}, 15, 0),  # each is a target of its own, and none of them a node
        ({"per_gpu": 10}, 360, 120),  # 24 of the cluster, 8 of the largest node
        ({"per_pod": 10}, 1500, 600),  # 100 of the cluster, 40 of the fullest node
    ],
    ids=str,
)
def test_limit_of_a_scrape_is_half_as_much_again_as_the_largest_target(
    budget: dict[str, int], whole: int, one_node: int
) -> None:
    assert samples_per_scrape(page(budget, on_every_node=False), SIZING) == whole
    assert samples_per_scrape(page(budget, on_every_node=True), SIZING) == one_node


def test_pods_that_share_a_gpu_cost_its_series_each() -> None:
    """3 nodes with 8 GPUs, 4 pods on each, 10 series; one node alone, and half as much again."""
    shared = SIZING.model_copy(update={"pods_per_gpu": 4})
    for on_every_node, limit in ((False, 1440), (True, 480)):
        assert series(page({"per_gpu": 10}, on_every_node=on_every_node), shared) == 960
        assert samples_per_scrape(page({"per_gpu": 10}, on_every_node=on_every_node), shared) == limit
    assert series(page({"per_pod": 10, "per_node": 10}, on_every_node=True), shared) == 1040


def test_cluster_without_gpus_plans_no_series_for_them() -> None:
    none = SIZING.model_copy(update={"gpu_nodes": 0, "gpus_per_node": 0})
    assert series(page({"per_gpu": 30}, on_every_node=True), none) == 0
    assert samples_per_scrape(page({"per_gpu": 30}, on_every_node=True), none) == 0


@pytest.mark.parametrize("producer", PRODUCERS, ids=lambda found: str(found.job))
def test_every_page_of_the_catalogue_is_planned_for(producer: Producer) -> None:
    """A limit of 0 means no limit to Prometheus, and a budget of 0 would be passed by the first series."""
    assert series(producer, SIZING) > 0
    assert samples_per_scrape(producer, SIZING) > 0
    assert samples_per_scrape(producer, SIZING) <= 1.5 * series(producer, SIZING) + 1
