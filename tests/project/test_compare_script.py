"""The script that repeats the big comparisons: a few cases of each kind, and what it does when one does not agree."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

SLOW = Path(__file__).parents[1] / "slow"
sys.path.insert(0, str(SLOW))

import compare  # noqa: E402
from comparisons import COMPARED, KINDS  # noqa: E402


@pytest.mark.parametrize("kind", COMPARED)
def test_some_cases_agree(kind: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    few = 1 if "8 to 24" in kind else 5
    status = compare.main(["--cases", str(few), "--seed", "3", "--kinds", kind, "--out", str(tmp_path)])
    told = capsys.readouterr().out
    assert status == 0, told
    assert f"{few} agreed: {kind}" in told


def test_what_does_not_agree_is_written_down(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def disagrees(**inputs: object) -> None:
        raise AssertionError(f"{sorted(inputs)} do not agree")

    monkeypatch.setitem(KINDS, "classes", (KINDS["classes"][0], disagrees))
    status = compare.main(["--cases", "1", "--seed", "7", "--kinds", "classes,lists", "--out", str(tmp_path)])
    told = capsys.readouterr().out
    assert status == 1
    assert "0 agreed: classes" in told and "1 agreed: lists and counts" in told and "1 did not" in told
    (written,) = tmp_path.glob("disagrees_classes_7_0.py")
    assert "do not agree" in written.read_text()
    tried = [sys.executable, str(written), str(SLOW.parent)]
    done = subprocess.run(tried, capture_output=True, text=True, check=False, env={**os.environ})
    assert (done.returncode, done.stdout) == (0, "agrees\n"), done.stderr


def test_a_kind_that_is_not_there_is_named() -> None:
    with pytest.raises(SystemExit, match="no kind begins with 'nothing'"):
        compare.main(["--cases", "1", "--kinds", "nothing"])


def test_it_needs_neither_pytest_nor_hypothesis() -> None:
    """So that it runs on another machine."""
    loaded = (
        "import sys; sys.argv = ['compare']; import compare; "
        "print(sorted({'pytest', 'hypothesis', 'pandas', 'scipy'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", loaded], capture_output=True, text=True, cwd=SLOW, check=False)
    assert (done.returncode, done.stdout) == (0, "[]\n"), done.stderr
