"""Stand-in for a pager: receives what Alertmanager sends, keeps it in memory, and says what it has received.

It speaks Alertmanager's webhook contract, version 4 (github.com/prometheus/alertmanager, `docs/configuration.md`,
`notify/webhook/webhook.go` and `template/template.go`). Nobody is asked who they are: it belongs into a sandbox.
"""
