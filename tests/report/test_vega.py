import pytest

from portrayal.report import page as module


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr(module, "_made", lambda: "(function(){made})();")
    return tmp_path / "portrayal"


def script():
    return module.vega.__wrapped__()


def test_a_script_is_made_once_and_kept(folder, monkeypatch):
    assert script() == "(function(){made})();"
    monkeypatch.setattr(module, "_made", lambda: "(function(){again})();")
    assert script() == "(function(){made})();"
    assert [path.suffix for path in folder.iterdir()] == [".js"]


def test_half_a_script_is_made_anew(folder):
    script()
    (path,) = folder.iterdir()
    path.write_text("(function(){ma")
    assert script() == "(function(){made})();" == path.read_text()


def test_a_folder_that_cannot_be_written_is_no_error(folder):
    folder.write_text("a file where the folder should be")
    assert script() == "(function(){made})();"


def test_without_a_home_the_script_is_made_each_time(folder, monkeypatch):
    def nowhere():
        raise RuntimeError("no home")

    monkeypatch.setattr(module, "_cache_folder", nowhere)
    assert script() == "(function(){made})();"
    assert not folder.exists()
