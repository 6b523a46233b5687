"""What `--out` names is never destroyed: streams are written, links stay, folders are spared."""

import os
import stat
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from command import invoke
from portrayal.annotate.agency.training import train_agency
from portrayal.errors import OptionError, RunError
from portrayal.run import Run
from portrayal.run.files import check_folder, replacing, write_atomically

NOBODY = 65534
IMPORTS = "import portrayal.run.files as f; from pathlib import Path"
pytestmark = [
    pytest.mark.skipif(os.name != "posix", reason="devices, pipes and owners"),
    pytest.mark.fault(
        "`--out` names a device, a pipe, a link, `/`, the home folder or a folder of other files, "
        "as root or not",
        "streams are written, links of the user followed, all else refused; nothing is destroyed",
    ),
]
as_root = pytest.mark.skipif(
    not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root can become another user"
)


def as_nobody(code: str, *words: str) -> subprocess.CompletedProcess[str]:
    """Run Python without privileges; what it imports was imported before they were dropped."""
    first = f"{IMPORTS}; import os, sys; os.setgid({NOBODY}); os.setuid({NOBODY})"
    return subprocess.run(
        [sys.executable, "-c", f"{first}\n{code}", *words],
        capture_output=True, text=True, check=False, cwd="/",
    )  # fmt: skip


WRITE = "f.write_atomically(Path(sys.argv[1]), 'new')"


@pytest.fixture
def public(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A folder that every user may write to."""
    with tempfile.TemporaryDirectory(prefix="portrayal-test-") as folder:
        Path(folder).chmod(0o777)
        yield Path(folder)


def test_a_device_is_written_and_stays(tmp_path: Path) -> None:
    before = Path("/dev/null").stat()
    write_atomically(Path("/dev/null"), "gone")
    assert Path("/dev/null").stat().st_ino == before.st_ino
    assert stat.S_ISCHR(Path("/dev/null").stat().st_mode)


@as_root
def test_a_device_elsewhere_stays_for_root(tmp_path: Path) -> None:
    node = tmp_path / "node"
    try:
        os.mknod(node, 0o666 | stat.S_IFCHR, os.makedev(1, 3))
        node.write_text("")
    except PermissionError:
        pytest.skip("no right to make devices")
    write_atomically(node, "gone")
    assert stat.S_ISCHR(node.stat().st_mode)
    assert list(tmp_path.iterdir()) == [node]


def _through_a_pipe(path: Path, write: Callable[[], object]) -> str:
    heard: list[str] = []
    reader = threading.Thread(target=lambda: heard.append(path.read_text("utf-8")))
    reader.start()
    write()
    reader.join(20)
    assert stat.S_ISFIFO(path.stat().st_mode)
    return heard[0]


def test_a_pipe_is_written_and_stays(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    assert _through_a_pipe(pipe, lambda: write_atomically(pipe, "words")) == "words"


@as_root
def test_a_pipe_is_written_by_a_user_without_privileges(public: Path) -> None:
    pipe = public / "pipe"
    os.mkfifo(pipe)
    pipe.chmod(0o666)
    assert _through_a_pipe(pipe, lambda: as_nobody(WRITE, str(pipe))) == "new"


def test_standard_output_is_written(tmp_path: Path) -> None:
    code = f"{IMPORTS}; f.write_atomically(Path('/dev/stdout'), 'new')"
    to = tmp_path / "all.txt"
    with to.open("w") as stream:
        print("first", file=stream, flush=True)
        subprocess.run([sys.executable, "-c", code], stdout=stream, check=True)
    assert to.read_text() == "first\nnew"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True)
    assert done.stdout == b"new"


def test_a_link_of_the_user_stays_and_its_file_is_written(tmp_path: Path) -> None:
    real = tmp_path / "there" / "real.txt"
    real.parent.mkdir()
    real.write_text("old")
    (tmp_path / "first").symlink_to("there/second")
    (tmp_path / "there" / "second").symlink_to("real.txt")
    write_atomically(tmp_path / "first", "new")
    assert (tmp_path / "first").is_symlink()
    assert (real.parent / "second").is_symlink()
    assert real.read_text() == "new"


def test_a_circle_of_links_is_refused(tmp_path: Path) -> None:
    (tmp_path / "a").symlink_to("b")
    (tmp_path / "b").symlink_to("a")
    with pytest.raises(OptionError, match="circle"):
        write_atomically(tmp_path / "a", "new")


@as_root
def test_a_link_of_another_user_is_refused(public: Path) -> None:
    real = public / "real.txt"
    real.write_text("old")
    real.chmod(0o666)
    link = public / "link"
    link.symlink_to(real)
    done = as_nobody(WRITE, str(link))
    assert "another user made" in done.stderr
    os.lchown(link, NOBODY, NOBODY)
    assert as_nobody(WRITE, str(link)).returncode == 0
    assert real.read_text() == "new"
    with pytest.raises(OptionError, match="another user made"):
        write_atomically(link, "by root")
    assert real.read_text() == "new"


WRITERS = """
import encodings.utf_8_sig  # loaded before the right to read it is given up
import numpy as np, pyarrow as pa
from portrayal.annotate.agency.linear import WordScores, write_linear
from portrayal.pipeline.replicate import replicate
scores = WordScores("w", {}, {}, {}, {}, 0.0)
source = Path(sys.argv[1]) / "source"
def into(folder):
    with f.replacing_files(folder) as new:
        (new / "file").write_text("new")
writers = {
    "text": lambda path: f.write_atomically(path, "new"),
    "table": lambda path: f.write_parquet(pa.table({"a": [1]}), path),
    "classifier": lambda path: write_linear(path, scores, scores),
    "folder": lambda path: into(path.parent),
    "replication": lambda path: replicate("laissez-faire", source, path.parents[1]),
}
for name, write in writers.items():
    path = Path(sys.argv[1]) / name / sys.argv[2]
    if name == "replication":
        path = path.parent / "given" / "texts.jsonl"
    try:
        write(path)
        print(name, "written")
    except Exception as error:
        print(name, type(error).__name__, error)
"""


@as_root
@pytest.mark.parametrize("user", ["root", "nobody"])
def test_no_writer_follows_a_link_of_another_user(public: Path, user: str) -> None:
    (public / "source").mkdir()
    (public / "source" / "file").write_text("new")
    (public / "source" / "data.csv").write_text("Query,Response\n1,2\n")
    owner = NOBODY if user == "root" else 0
    places = [public / name for name in ("text", "table", "classifier", "folder")]
    places.append(public / "replication" / "given")
    for place in places:
        link = place / ("texts.jsonl" if place.name == "given" else "file")
        place.mkdir(parents=True)
        (place / "precious").write_text("mine")
        (place / "precious").chmod(0o666)
        link.symlink_to("precious")
        for path in (place, place.parent) if place.name == "given" else (place,):
            path.chmod(0o777)
        os.lchown(link, owner, owner)
    (public / "replication" / "audit.toml").touch()
    drop = "" if user == "root" else f"os.setgid({NOBODY}); os.setuid({NOBODY})"
    imports = WRITERS.replace("source = ", f"{drop}\nsource = ", 1)
    done = subprocess.run(
        [sys.executable, "-c", f"{IMPORTS}\nimport os, sys\n{imports}", str(public), "file"],
        capture_output=True, text=True, check=False, cwd="/",
    )  # fmt: skip
    lines = done.stdout.splitlines()
    assert len(lines) == 5, done.stderr
    assert all("OptionError" in line and "another user made" in line for line in lines), lines
    assert {(place / "precious").read_text() for place in places} == {"mine"}


def test_a_classifier_is_trained_into_no_folder_of_other_files(tmp_path: Path) -> None:
    (tmp_path / "thesis.txt").write_text("years of work")
    for out in (tmp_path, Path("/"), Path.home()):
        with pytest.raises(OptionError, match=r"holds other files|root of all|home folder"):
            train_agency(None, "linear", out)  # type: ignore[arg-type]
    assert (tmp_path / "thesis.txt").read_text() == "years of work"


def test_a_folder_is_no_file(tmp_path: Path) -> None:
    with pytest.raises(OptionError, match="is a folder"), replacing(tmp_path):
        pass


@pytest.mark.parametrize("replace", [False, True])
def test_an_audit_writes_into_no_folder_that_is_no_run(tmp_path: Path, replace: bool) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "thesis.txt").write_text("years of work")
    more = ["--replace"] if replace else []
    for out, why in (
        (str(tmp_path / "mine"), "holds other files"),
        ("/", "root of all folders"),
        (str(Path.home()), "home folder"),
    ):
        done = invoke("audit", "agency", "--sample", "--out", out, *more)
        assert done.exit_code == 2
        assert why in done.stderr
    assert [path.name for path in (tmp_path / "mine").iterdir()] == ["thesis.txt"]


def test_a_link_inside_a_run_is_refused(tmp_path: Path) -> None:
    Run(tmp_path).write_settings({})
    (tmp_path / "precious").write_text("mine")
    (tmp_path / "report.html").symlink_to("precious")
    with pytest.raises(RunError, match=r"report\.html is a link"):
        Run.open(tmp_path)


def test_a_new_folder_and_an_empty_one_are_taken(tmp_path: Path) -> None:
    check_folder(tmp_path)
    check_folder(tmp_path / "new")
    (tmp_path / "mark").touch()
    check_folder(tmp_path, "mark")
    with pytest.raises(OptionError):
        check_folder(tmp_path)
