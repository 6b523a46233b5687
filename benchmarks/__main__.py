"""Print every figure of docs/benchmarks.md: `python -m benchmarks [--stories N] [--texts FILE]`.

Each module of this folder is also run by itself, as `python -m benchmarks.NAME --help` says.
"""

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path

from benchmarks import audit, news_levels, people


def import_cost() -> dict[str, float]:
    """CPU seconds of `import portrayal` in a fresh process, smallest of nine."""
    code = "import time; t = time.process_time(); import portrayal; print(time.process_time() - t)"
    times = [
        float(subprocess.run([sys.executable, "-c", code], capture_output=True, check=True).stdout)
        for _ in range(9)
    ]
    return {"import_cpu_s": round(min(times), 4)}


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
    names = ", ".join(sorted(each.stem for each in Path(__file__).parent.glob("[a-z]*.py")))
    parser = argparse.ArgumentParser(description=__doc__, epilog=f"Modules: {names}.")
    parser.add_argument("--stories", help="stories of the audit; see benchmarks.audit")
    parser.add_argument("--texts", help="file of stories; see benchmarks.audit")
    parser.parse_known_args()
    print(json.dumps(import_cost()))
    print(json.dumps(install_size()))
    print(json.dumps(people.measure(people.stories_of(None, 5_000))))
    print(json.dumps(news_levels.measure(news_levels.texts_of(None, 30_000))))
    subprocess.run([sys.executable, "-m", "benchmarks.topics"], check=True)
    audit.main()


if __name__ == "__main__":
    main()
