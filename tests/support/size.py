"""How large a run is: what fits CI, or every seed, point and example with ``RALPH_FULL=1``."""

import os

FULL = os.environ.get("RALPH_FULL") not in (None, "", "0")
