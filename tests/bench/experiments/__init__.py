"""SwanLab of a running stack, measured beside its own stores: `python -m tests.bench.experiments`."""
