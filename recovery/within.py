"""What goes wrong in a step of one store, told with the store's name, whoever of the step ran into it."""

from __future__ import annotations

import errno
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

from recovery.errors import DamagedError, RecoveryError, StoreError

if TYPE_CHECKING:
    from collections.abc import Iterator

_FULL: Final = (errno.ENOSPC, errno.EDQUOT)
_UNUSABLE: Final = (errno.EROFS, errno.EACCES, errno.ENOENT, errno.ENOTDIR, errno.EIO)
_WORK: Final = "the working directory (`work` in the configuration)"


@contextmanager
def within(store: str) -> Iterator[None]:
    """Every RecoveryError of the block, and a working directory that is full or unusable, become a StoreError.

    DamagedError passes through: it says something of the point, not of the store. store: its name.
    """
    try:
        yield
    except (DamagedError, StoreError):
        raise
    except RecoveryError as error:
        raise StoreError(store, str(error).removeprefix(f"{store}: ")) from error
    except OSError as error:
        if error.errno in _FULL:
            why = f"no space is left in {_WORK}; give it more room, 1 GiB does for most, or delete what is not needed"
        elif error.errno in _UNUSABLE:
            why = f"{_WORK} cannot be used ({error.strerror}); it must be there and writable for this program alone"
        else:
            raise
        raise StoreError(store, f"{why}; then run again") from error
