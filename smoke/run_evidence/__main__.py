"""`python -m smoke.run_evidence`."""

from __future__ import annotations

import sys

from smoke.run_evidence.main import main

sys.exit(main())
