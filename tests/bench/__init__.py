"""Benchmarks that join every room, as only tests may: rules and scrape jobs as a stack renders them, simulated GPUs."""
