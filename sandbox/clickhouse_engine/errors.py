"""ClickHouse's errors over HTTP: code, text, status."""

from __future__ import annotations

import re
from typing import Final

_CODE: Final = re.compile(r"Code: (\d+)\. DB::Exception: ")
_VERSION: Final = re.compile(r"\(version [^)]*\)\s*$")

BAD_ARGUMENTS: Final = 36
NOT_IMPLEMENTED: Final = 48
ZLIB_INFLATE_FAILED: Final = 354
AUTHENTICATION_FAILED: Final = 516
STD_EXCEPTION: Final = 1001

# src/Server/HTTP/exceptionCodeToHTTPStatus.cpp, its names resolved by src/Common/ErrorCodes.cpp.
_STATUS: Final = {
    400: (6, 8, 15, 25, 26, 27, 36, 37, 38, 41, 44, 53, 62, 72, 117, 123, 167, 168, 223, 321, 376, 427, 441, 675, 676),
    401: (194,),
    403: (192, 193, 497, 512, 516),
    404: (46, 47, 50, 56, 60, 63, 73, 78, 81, 115, 152, 336, 511),
    408: (159,),
    411: (381,),
    413: (229,),
    415: (779,),
    501: (48,),
    503: (76, 209, 439),
}
_BY_CODE: Final = {code: status for status, codes in _STATUS.items() for code in codes}


class EngineError(Exception):
    """An error of the engine. code: ClickHouse's number. str(): its text with code and name."""

    def __init__(self, text: str) -> None:
        """text: what the library raised, with or without words of its own in front."""
        found = _CODE.search(text)
        self.code = int(found[1]) if found else STD_EXCEPTION
        super().__init__(text[found.start() :].strip() if found else f"Code: {STD_EXCEPTION}. DB::Exception: {text}")

    @property
    def status(self) -> int:
        """HTTP status by which the server answers."""
        return _BY_CODE.get(self.code, 500)

    def text(self, version: str) -> str:
        """The body of the answer. version: of the engine."""
        return f"{self}\n" if _VERSION.search(str(self)) else f"{self} (version {version})\n"


def error(code: int, name: str, message: str) -> EngineError:
    """An error of this server in ClickHouse's shape."""
    return EngineError(f"Code: {code}. DB::Exception: {message} ({name})")
