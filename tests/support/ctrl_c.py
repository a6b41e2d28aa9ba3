"""Ctrl-C in tests: what a test presses, or raises, can fail that test and nothing else.

Pytest takes a KeyboardInterrupt that leaves a test for one of the person who runs it, and ends (with xdist: the worker
does). A question may be over before it can hear the key, so tests press it with ``press_ctrl_c``, and every test and
fixture runs inside ``only_a_person_ends_the_run``.
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

import pytest

_pressing: list[bool] = []
_pressed_by_a_person: list[bool] = []


def press_ctrl_c(*_: object) -> None:
    """As the terminal sends it. In the main thread, so that it is heard now and not later, in another test."""
    assert threading.current_thread() is threading.main_thread()
    _pressing.append(True)
    try:
        signal.raise_signal(signal.SIGINT)
    finally:
        _pressing.clear()


@contextmanager
def only_a_person_ends_the_run() -> Iterator[None]:
    """A KeyboardInterrupt that leaves this fails the test, unless somebody pressed the key."""
    before = signal.signal(signal.SIGINT, _heard)
    try:
        yield
    except KeyboardInterrupt as error:
        if _pressed_by_a_person:
            raise
        pytest.fail(f"{type(error).__name__} left the test: nothing heard the Ctrl-C that it pressed or raised")
    else:
        if _pressed_by_a_person:  # what the test asked took it for its own
            raise KeyboardInterrupt
    finally:
        signal.signal(signal.SIGINT, before)


def _heard(signum: int, frame: FrameType | None) -> None:
    if not _pressing:
        _pressed_by_a_person.append(True)
    signal.default_int_handler(signum, frame)
