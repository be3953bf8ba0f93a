"""Why something could not be fetched."""

from __future__ import annotations


class AccessError(Exception):
    """The stack could not be asked. `subject` names what was asked."""

    def __init__(self, subject: str, message: str) -> None:
        self.subject = subject
        super().__init__(message)


class UnreachableError(AccessError):
    """No answer, or an answer that says "later": worth another attempt."""


class RefusedError(AccessError):
    """A definite refusal (credentials, permissions, a malformed query): waiting does not help. `status` is HTTP's."""

    def __init__(self, subject: str, message: str, status: int) -> None:
        self.status = status
        super().__init__(subject, message)


class CommandError(AccessError):
    """A program that could not be started, did not end in time, or ended with a failure."""


class NoShellError(CommandError):
    """The container has no shell, so nothing can be asked from inside."""
