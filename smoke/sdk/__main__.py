"""`python -m smoke.sdk`: see smoke/sdk/main.py."""

import sys

from smoke.sdk.main import main

if __name__ == "__main__":
    sys.exit(main())
