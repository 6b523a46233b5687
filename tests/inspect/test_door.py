"""The door: Inspect is loaded only by those who ask for it, and its absence is explained."""

import subprocess
import sys


def _python(code: str) -> str:
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_missing_extra_names_the_install_command() -> None:
    said = _python(
        "import sys; sys.modules['inspect_ai'] = None\n"
        "from portrayal.errors import MissingExtraError\n"
        "try:\n    import portrayal.inspect\n"
        "except MissingExtraError as error:\n    print(error)\n"
    )
    assert 'pip install "portrayal[inspect]"' in said


def test_nothing_else_loads_inspect() -> None:
    loaded = _python(
        "import sys, portrayal, portrayal.cli, portrayal.pipeline.audit, portrayal.collect\n"
        "print('inspect_ai' in sys.modules)"
    )
    assert loaded.strip() == "False"
