"""`python -m smoke.drill`."""

from __future__ import annotations

import sys

from smoke.drill.main import main

sys.exit(main())
