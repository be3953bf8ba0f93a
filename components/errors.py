"""The one error type of everything that runs inside `pulumi up`."""

from __future__ import annotations

import pulumi


class DeployError(pulumi.RunError):
    """Something that a person must change before the stack can be deployed.

    The message says what is wrong, where, what is accepted and what to do next. Pulumi prints a `RunError` as one
    message, without a stack trace.
    """
