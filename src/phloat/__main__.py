"""python -m phloat is the command phloat."""

import sys

from phloat.cli.main import main

if __name__ == "__main__":
    sys.exit(main())
