"""The boards of a stack, drawn from answers: for whoever has the report and no Grafana."""
