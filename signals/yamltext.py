"""YAML as people write it: keys in the given order, text of several lines as a block."""

from __future__ import annotations

import yaml


class _Dumper(yaml.SafeDumper):
    """A dumper of its own, so that the representer below does not change the library for everybody."""

    def ignore_aliases(self, data: object) -> bool:  # noqa: ARG002  # the signature is the library's
        """Anchors and aliases save bytes and cost readers; Prometheus files have neither."""
        return True


def _text(dumper: yaml.SafeDumper, value: str) -> yaml.ScalarNode:
    return dumper.represent_scalar("tag:yaml.org,2002:str", value, style="|" if "\n" in value else None)


_Dumper.add_representer(str, _text)


def dump(document: object) -> str:
    """The YAML text of plain data. The same data always gives the same bytes."""
    text: str = yaml.dump(document, Dumper=_Dumper, sort_keys=False, width=110, allow_unicode=True)
    return text
