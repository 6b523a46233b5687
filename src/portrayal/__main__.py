"""The command line, as `portrayal` and as `python -m portrayal`."""

import sys


def main() -> None:
    """Run the command line; what cannot even be loaded is one line and no verdict of a gate."""
    try:
        from portrayal.cli import main as run  # here, so that a failing import is told in one line
    except KeyboardInterrupt:
        text = "interrupted: the same command continues where it stopped.\n"
        sys.stderr.write(text)
        sys.exit(130)
    except (MemoryError, ImportError) as error:
        text = f"error: Portrayal cannot be loaded ({error or 'no memory'}).\n"
        sys.stderr.write(text)
        sys.exit(70)
    run()


if __name__ == "__main__":
    main()
