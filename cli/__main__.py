"""`python -m cli VERB`. Ctrl-C is answered in words while the program is still being read, too: that takes a second."""

from __future__ import annotations

import sys

from cli.begin import interrupted, listen


def main() -> int:
    """Read the program, then run one verb."""
    listen()
    try:
        from cli.words import main as run  # noqa: PLC0415  # reading it takes a second, in which Ctrl-C may come
    except KeyboardInterrupt:
        return interrupted()
    return run()


if __name__ == "__main__":
    sys.exit(main())
