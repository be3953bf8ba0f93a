"""The gate: a program in the cluster that says whether SwanLab answers, part by part. Its chart has no probes."""
