"""Print every figure of docs/benchmarks.md: `python -m benchmarks [--stories N] [--texts FILE]`."""

import json
import subprocess
import sys
import tempfile
from pathlib import Path

from benchmarks import audit


def import_cost() -> dict[str, float]:
    """CPU seconds of `import portrayal` over those of an empty program, smallest of nine."""

    def smallest(code: str) -> float:
        return min(audit.measure([sys.executable, "-c", code])["cpu_s"] for _ in range(9))

    return {"import_cpu_s": round(smallest("import portrayal") - smallest("pass"), 3)}


def install_size() -> dict[str, float]:
    """Megabytes of a plain install into an empty virtual environment, packages alone."""
    root = Path(__file__).resolve().parent.parent
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([sys.executable, "-m", "venv", folder], check=True)
        python = Path(folder) / "bin" / "python"
        subprocess.run([python, "-m", "pip", "install", "--quiet", root], check=True)
        packages = Path(folder) / "lib"
        total = sum(path.stat().st_size for path in packages.rglob("*") if path.is_file())
    return {"install_mb": round(total / 1e6)}


def main() -> None:
    """Print one JSON object for each benchmark."""
    print(json.dumps(import_cost()))
    print(json.dumps(install_size()))
    audit.main()


if __name__ == "__main__":
    main()
