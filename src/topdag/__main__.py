"""``python -m topdag``: the command line."""

import sys

from topdag.cli import main

sys.exit(main())
