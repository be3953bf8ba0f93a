"""Words before `token`, `key` and `pass` that make a name one of a credential: for patterns, and for their signs."""

from __future__ import annotations

from typing import Final

LONG_TOKENS: Final = (
    *("access", "refresh", "auth", "bearer", "session", "csrf", "xsrf", "github", "gitlab", "slack", "personal"),
    *("service", "account", "device", "oauth2?", "security", "private", "user", "login", "reset", "swanlab", "wandb"),
    *("vault", "deploy", "registry", "bootstrap", "secret"),
)
SHORT_TOKENS: Final = (*("id", "api", "hf", "hub", "bot", "sas", "sa", "npm", "pypi", "join", "kube", "k8s", "ci"),)
SHORTEST_TOKEN: Final = "x"  # noqa: S105  # a word of names, no token
"""Only as words of their own."""
KEYS: Final = (
    *("access", "private", "secret", "encryption", "signing", "ssh", "gpg", "pgp", "client", "master", "account"),
    *("license", "auth", "shared", "consumer", "deploy", "webhook", "swanlab", "wandb", "openai", "anthropic"),
    *("azure", "huggingface", "subscription", "functions", "aes", "azure_storage"),
)
PASSES: Final = (
    *(
        "db",
        "database",
        "smtp",
        "mail",
        "imap",
        "ftp",
        "ssh",
        "http",
        "proxy",
        "user",
        "auth",
        "login",
        "admin",
        "root",
    ),
    *("mysql", "pg", "postgres", "redis", "mongo", "rabbitmq", "ldap", "clickhouse"),
)
