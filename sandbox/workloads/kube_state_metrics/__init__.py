"""Stand-in for kube-state-metrics: the part of its exposition that this project uses, made from real API objects.

kube-state-metrics is not served as a Go module, so its program cannot be built here. This package follows its
release v2.19.1 (github.com/kubernetes/kube-state-metrics, commit 45e1513e95beaaa2f2df92af9958cd9837bb66ab): names,
HELP, TYPE, labels and their order, units, phases and reasons are those of `internal/store` at that commit.

It differs on purpose in four ways. `/readyz` waits for the first list of every resource, so that a missing permission
is seen before anybody trusts the numbers. Resources without a namespace are watched once, however many namespaces are
named. Headers appear as soon as any object of a resource exists in any of the namespaces. A deployment without
`spec.replicas` has no such series instead of ending the program. The last three are upstream's own fixes of v2.20.0.
"""

from __future__ import annotations

from typing import Final

VERSION: Final = "v2.19.1"
"""The release whose exposition is followed."""
