"""`python -m portrayal`."""

from portrayal.cli import main

main()
