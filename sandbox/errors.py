"""The one error type of the sandbox: what is wrong, and what to do next."""

from __future__ import annotations


class SandboxError(Exception):
    """A condition the user can act on. Printed as it is, without a stack trace.

    what: what is wrong and where. remedy: what to do next.
    """

    def __init__(self, what: str, remedy: str) -> None:
        """Keep both parts; the message joins them."""
        super().__init__(f"{what}\n  next: {remedy}")
        self.what = what
        self.remedy = remedy
