"""Reading a key, a single press on a terminal or the first letter of a line from a pipe; a line."""

from __future__ import annotations

import importlib
import sys
from typing import TextIO

_END = ("", "\x04")
_INTERRUPT = "\x03"
_TWO_PARTS = ("\x00", "\xe0")  # how Windows begins an arrow or function key


def read_key(stream: TextIO | None = None) -> str | None:
    """The next key, in lower case; an empty text for Enter alone, None at the end of the input."""
    stream = stream or sys.stdin
    if not stream.isatty():
        line = stream.readline()
        return None if line == "" else line.strip()[:1].lower()
    pressed = _pressed(stream)
    return None if pressed in _END else pressed.strip().lower()


def read_line(stream: TextIO | None = None) -> str | None:
    """The next line without its end; None at the end of the input."""
    line = (stream or sys.stdin).readline()
    return None if line == "" else line.strip()


def _pressed(stream: TextIO) -> str:
    if sys.platform == "win32":
        return _pressed_on_windows()
    import termios
    import tty

    before = termios.tcgetattr(stream)
    try:
        # Not raw: Ctrl-C still interrupts. What was typed ahead is kept.
        tty.setcbreak(stream, termios.TCSADRAIN)
        return stream.read(1)
    finally:
        termios.tcsetattr(stream, termios.TCSADRAIN, before)


def _pressed_on_windows() -> str:
    getwch = importlib.import_module("msvcrt").getwch
    key = str(getwch())
    if key in _TWO_PARTS:
        getwch()  # its second part would be taken for a letter
        return " "
    if key == _INTERRUPT:  # arrives as a key there
        raise KeyboardInterrupt
    return key
