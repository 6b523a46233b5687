"""Check what a release needs, and print the commands that would publish it: `make release`.

Uploads nothing. The version must be the same in the package, CITATION.cff and CHANGELOG.md, and
both archives of that version must lie in dist/.
"""

import re
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]


def version(root: Path = ROOT) -> str:
    """Return the version of the package."""
    return (root / "src/portrayal/_version.py").read_text("utf-8").split('"')[-2]


def problems(root: Path = ROOT) -> list[str]:
    """Return what stands in the way of a release, a sentence each."""
    own = version(root)
    cited = re.search(r"^version: (.+)$", (root / "CITATION.cff").read_text("utf-8"), re.M)
    changes = (root / "CHANGELOG.md").read_text("utf-8")
    found = []
    if cited is None or cited[1] != own:
        found.append(f"CITATION.cff: expected version {own}, found {cited and cited[1]}.")
    if re.search(rf"^## \[{re.escape(own)}\] \d{{4}}-\d\d-\d\d$", changes, re.M) is None:
        found.append(f"CHANGELOG.md: expected a heading '## [{own}] YYYY-MM-DD'.")
    for name in (f"portrayal-{own}-py3-none-any.whl", f"portrayal-{own}.tar.gz"):
        if not (root / "dist" / name).is_file():
            found.append(f"dist/{name} is missing: run `make dist`.")
    return found


def main() -> None:
    """Print what is missing, or else the commands of the day."""
    own, found = version(), problems()
    for line in found:
        print(f"not yet: {line}")
    print("To publish, once nothing is missing:")
    print(f"  git tag -s v{own} && git push origin v{own}")
    print(f"  python -m twine upload dist/portrayal-{own}*")
    # The changes are dated on the day itself.
    sys.exit(any(not line.startswith("CHANGELOG") for line in found))


if __name__ == "__main__":
    main()
