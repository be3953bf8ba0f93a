"""`python -m smoke`."""

from __future__ import annotations

import signal
import sys

from smoke.main import main

# A run that is told to end still writes its report.
signal.signal(signal.SIGTERM, signal.default_int_handler)
sys.exit(main())
