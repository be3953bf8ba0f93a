"""Delivery buffer: acknowledges events once they are on its disk, and writes them to ClickHouse seconds later.

Stands in for Vector 0.51 with the topology of SwanLab's chart: an `http_server` source with acknowledgements, a
remap, a route by `.type`, and for each type a `clickhouse` sink with a disk buffer of its own and `when_full: block`.
Metrics carry Vector's names and tags.

It differs where the real one loses data: a batch that ClickHouse refuses for one bad row is divided until only that
row is discarded, and what ClickHouse refuses for any other reason is kept and tried again for ever.
"""

from sandbox.swanlab_server.vector.program import main

__all__ = ["main"]
