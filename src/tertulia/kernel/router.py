"""From method and path to an endpoint: a dictionary for fixed paths, then compiled patterns.

A fixed path wins over a pattern, and an integer part over a text part. Integer parts are digits, with or without a minus. They
may be more than a column holds: the endpoint answers them as an id that nothing has.
"""

import re
from collections.abc import Iterable
from typing import Generic, TypeVar

from tertulia.kernel.errors import method_not_allowed, not_found

Target = TypeVar("Target")
Methods = dict[str, Target]
PathArgs = dict[str, int | str]

MAX_DIGITS = 1000
"""What is longer is no number, and the address does not exist: reading one takes time."""

_slot = re.compile(r"\{([a-z_]+)\}")


class _Pattern(Generic[Target]):
    def __init__(self, path: str, kinds: dict[str, type], methods: Methods[Target]) -> None:
        self.methods = methods
        self.numbers = tuple(name for name in _slot.findall(path) if kinds[name] is int)
        pieces = _slot.split(path)
        for index in range(1, len(pieces), 2):
            name = pieces[index]
            kind = f"-?[0-9]{{1,{MAX_DIGITS}}}" if kinds[name] is int else r"[^/\x00]+"
            pieces[index] = f"(?P<{name}>{kind})"
        pieces[::2] = map(re.escape, pieces[::2])
        self.match = re.compile("".join(pieces)).fullmatch
        # Most specific first: more fixed text parts, then more numbers.
        self.rank = (len(_slot.findall(path)), -len(self.numbers), path)

    def read(self, path: str) -> PathArgs | None:
        found = self.match(path)
        if found is None:
            return None
        args: PathArgs = found.groupdict()
        for name in self.numbers:
            args[name] = int(found[name])
        return args


class Router(Generic[Target]):
    """Built once from (method, path, kinds of its path parameters, target)."""

    def __init__(self, routes: Iterable[tuple[str, str, dict[str, type], Target]]) -> None:
        self._fixed: dict[str, Methods[Target]] = {}
        shapes: dict[tuple[str, tuple[type, ...]], _Pattern[Target]] = {}
        for method, path, kinds, target in routes:
            if kinds:
                names = _slot.findall(path)
                key = (path, tuple(kinds[name] for name in names))
                methods = shapes.setdefault(key, _Pattern(path, kinds, {})).methods
            else:
                methods = self._fixed.setdefault(path, {})
            if method in methods:
                raise ValueError(f"two endpoints for {method} {path}")
            methods[method] = target
        self._patterns: dict[int, list[_Pattern[Target]]] = {}
        for pattern in sorted(shapes.values(), key=lambda pattern: pattern.rank):
            self._patterns.setdefault(pattern.rank[2].count("/"), []).append(pattern)

    def find(self, method: str, path: str) -> tuple[Target, PathArgs]:
        """The target for a request and its path arguments; refuses with 404 or 405."""
        fixed = self._fixed.get(path)
        if fixed is not None:
            target = fixed.get(method)
            if target is not None:
                return target, {}
            raise method_not_allowed(_allowed(fixed))
        others: Methods[Target] = {}
        for pattern in self._patterns.get(path.count("/"), ()):
            args = pattern.read(path)
            if args is None:
                continue
            target = pattern.methods.get(method)
            if target is not None:
                return target, args
            others |= pattern.methods
        raise method_not_allowed(_allowed(others)) if others else not_found()

    def knows(self, path: str) -> bool:
        """Whether anything answers at this path."""
        return path in self._fixed or any(
            pattern.read(path) is not None for pattern in self._patterns.get(path.count("/"), ())
        )

    def allowed(self, path: str) -> list[str]:
        """Every method that works at this path; refuses with 404 when there is none."""
        fixed = self._fixed.get(path)
        if fixed is not None:
            return _allowed(fixed)
        methods: Methods[Target] = {}
        for pattern in self._patterns.get(path.count("/"), ()):
            if pattern.read(path) is not None:
                methods |= pattern.methods
        if not methods:
            raise not_found()
        return _allowed(methods)


def _allowed(methods: Methods[Target]) -> list[str]:
    extra = {"HEAD", "OPTIONS"} if "GET" in methods else {"OPTIONS"}
    return sorted(set(methods) | extra)
