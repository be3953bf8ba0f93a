"""A monitoring stack as a team has it before Plumbline comes: Prometheus operator and a Prometheus of its own."""
