"""Who asks: headers, basic authentication, or parameters of the address."""

from __future__ import annotations

import base64
import hmac
from typing import TYPE_CHECKING

from sandbox.clickhouse_engine.errors import AUTHENTICATION_FAILED, EngineError, error

if TYPE_CHECKING:
    from collections.abc import Mapping

    from sandbox.clickhouse_engine.settings import Settings


def check(settings: Settings, headers: Mapping[str, str], parameters: Mapping[str, str]) -> None:
    """Raises EngineError with code 516 unless user and password are right. headers: looked up by lower-case name.

    Only one way may be used at a time, as in the real server. Nobody given means the user `default` without a password.
    """
    user, password = _given(headers, parameters)
    known = hmac.compare_digest(user.encode(), settings.user.encode())
    if not (hmac.compare_digest(password.encode(), settings.password.encode()) and known):
        raise _refused(f"{user}: Authentication failed: password is incorrect, or there is no user with such name.")


def _given(headers: Mapping[str, str], parameters: Mapping[str, str]) -> tuple[str, str]:
    by_header = "x-clickhouse-user" in headers or "x-clickhouse-key" in headers
    basic = headers.get("authorization", "")
    by_parameter = "user" in parameters or "password" in parameters
    if by_header + bool(basic) + by_parameter > 1:
        raise _refused(
            "Invalid authentication: it is not allowed to use more than one of X-ClickHouse headers, "
            "the Authorization header and parameters of the address at the same time"
        )
    if by_header:
        return headers.get("x-clickhouse-user", "default"), headers.get("x-clickhouse-key", "")
    if basic:
        return _basic(basic)
    return parameters.get("user", "default"), parameters.get("password", "")


def _basic(header: str) -> tuple[str, str]:
    scheme, _, token = header.partition(" ")
    if scheme.lower() != "basic":
        raise _refused(f"Invalid authentication: {scheme!r} HTTP Authorization scheme is not supported")
    try:
        user, _, password = base64.b64decode(token.strip(), validate=True).decode().partition(":")
    except ValueError as failure:
        raise _refused("Invalid authentication: the Authorization header is not base64 of user:password") from failure
    return user, password


def _refused(message: str) -> EngineError:
    return error(AUTHENTICATION_FAILED, "AUTHENTICATION_FAILED", message)
