"""`python -m kg_server`: the server process itself, in the foreground."""

import sys

from kg_server.web.run import main

if __name__ == "__main__":
    sys.exit(main())
