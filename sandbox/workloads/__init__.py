"""Stand-ins for what runs on a real platform: GPUs, and later the workloads that use them."""
