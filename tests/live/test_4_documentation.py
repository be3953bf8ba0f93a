"""The commands of the documentation that need a cluster do what the page says, in the order of the pages."""

from __future__ import annotations

import pytest

from tests.live.plumbline import STATE
from tests.offline.docs.commands import Example, complaints, live_commands


@pytest.mark.parametrize("example", live_commands(), ids=lambda e: e.name)
def test_documented_command_prints_what_the_page_shows(example: Example) -> None:
    assert complaints(example, state=STATE) == []
