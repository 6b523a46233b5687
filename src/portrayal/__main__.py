"""`python -m portrayal` is the command line."""

from portrayal.cli import main

if __name__ == "__main__":
    main()
