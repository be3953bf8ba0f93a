"""The commands of the documentation that need a cluster do what the page says, in the order of the pages.

Words that an earlier test ran to a good end are judged by what they printed there: each takes about a minute.
"""

from __future__ import annotations

import pytest

from tests.live.plumbline import PRINTED, STATE
from tests.offline.docs.commands import Example, complaints, live_commands


@pytest.mark.parametrize("example", live_commands(), ids=lambda e: e.name)
def test_documented_command_prints_what_the_page_shows(example: Example) -> None:
    assert complaints(example, state=STATE, printed=PRINTED) == []
