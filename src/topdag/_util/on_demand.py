"""Names of a package that are loaded when they are asked for: importing the package costs next to nothing."""

from __future__ import annotations

import sys
from importlib import import_module

TYPE_CHECKING = False  # typing takes 15 ms to load, in which Ctrl-C would not be heard yet; see __main__.py
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any


def opener(package: str, places: Mapping[str, str]) -> Callable[[str], Any]:
    """``__getattr__`` of a package.

    ``places``: the modules in topdag, each with the names in it that the package offers; with "", modules themselves.
    """
    module_of = {name: module or name for module, names in places.items() for name in names.split()}

    def opened(name: str) -> Any:
        if name not in module_of:
            from difflib import get_close_matches

            close = get_close_matches(name, module_of, n=1)
            hint = f"; did you mean {close[0]}?" if close else ""
            raise AttributeError(f"module {package!r} has no attribute {name!r}{hint}")
        module = import_module(f"topdag.{module_of[name]}")
        value = module if module_of[name] == name else getattr(module, name)
        setattr(sys.modules[package], name, value)
        return value

    return opened
