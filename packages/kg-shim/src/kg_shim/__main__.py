"""`python -m kg_shim`: the command `kg` where it is not on PATH."""

from kg_shim.cli import main

main()
