"""What the lock files pin: Python packages of requirements/, packages of the web client of web/package-lock.json."""

import json
import re
from dataclasses import dataclass, field
from typing import Any

from tests.check.suite import ROOT

PYTHON_LOCKS = {
    "base": "required",
    "standalone": "optional",
    "image": "optional",
    "dev": "excluded",
    "node": "excluded",
}
"""By file, from the narrowest to the widest, what CycloneDX calls the scope of what is new in it."""
US = "tertulia"
_pin = re.compile(r"^([a-z0-9][a-z0-9._-]*)(?:\[[^\]]*\])?==([^ ;\\]+)")
_via = re.compile(r"^    #(?: via)?\s+(\S+)")


@dataclass(frozen=True)
class Package:
    """One version of one package. A universal lock may pin several versions of a name, for different machines."""

    name: str
    version: str
    kind: str
    """pypi or npm."""
    scope: str
    needed_by: frozenset[str] = frozenset()
    """Names, for Python; package URLs, for the web client; and `US`."""
    integrity: str = ""
    license: str = ""
    path: str = field(default="", compare=False)

    @property
    def purl(self) -> str:
        """Its package URL, which names it in the bill of materials."""
        return f"pkg:{self.kind}/{self.name.replace('@', '%40')}@{self.version}"


def python_packages() -> list[Package]:
    """Each once, with its narrowest scope."""
    found: dict[tuple[str, str], Package] = {}
    for file, scope in PYTHON_LOCKS.items():
        for package in read_requirements((ROOT / "requirements" / f"{file}.txt").read_text(), scope):
            found.setdefault((package.name, package.version), package)
    return sorted(found.values(), key=lambda package: (package.name, package.version))


def read_requirements(text: str, scope: str) -> list[Package]:
    """What a file of `uv pip compile` pins. Comments say which package needs it."""
    found: list[Package] = []
    pin: tuple[str, str] | None = None
    needed_by: set[str] = set()

    def end() -> None:
        if pin is not None:
            found.append(Package(*pin, "pypi", scope, frozenset(needed_by)))

    for line in text.splitlines():
        if match := _pin.match(line):
            end()
            pin, needed_by = (match[1], match[2]), set()
        elif (match := _via.match(line)) and match[1] not in ("via", "-c"):
            needed_by.add(US if match[1].startswith((US, "-r")) else match[1])
    end()
    return found


def web_packages() -> list[Package]:
    """All of the web client's: what is built into it, and what builds it. npm calls all of them `dev`."""
    lock: dict[str, dict[str, Any]] = json.loads((ROOT / "web" / "package-lock.json").read_text())["packages"]
    at = {path: _web_package(path, entry) for path, entry in lock.items() if path}
    needed_by: dict[str, set[str]] = {path: set() for path in at}
    for path, entry in lock.items():
        for kind in ("dependencies", "devDependencies", "optionalDependencies", "peerDependencies"):
            for name in entry.get(kind, {}):
                if place := _resolve(at, path, name):
                    needed_by[place].add(at[path].purl if path else US)
    merged: dict[str, Package] = {}
    for path, package in at.items():
        known = merged.get(package.purl)
        needs = frozenset(needed_by[path]) | (known.needed_by if known else frozenset())
        merged[package.purl] = Package(
            package.name, package.version, "npm", package.scope, needs, package.integrity, package.license, path
        )
    return sorted(merged.values(), key=lambda package: package.purl)


def _web_package(path: str, entry: dict[str, Any]) -> Package:
    name = entry.get("name") or path.rpartition("node_modules/")[2]
    scope = "optional" if entry.get("optional") else "required"
    integrity, license = entry.get("integrity", ""), entry.get("license", "")
    return Package(name, entry["version"], "npm", scope, integrity=integrity, license=license, path=path)


def _resolve(at: dict[str, Package], path: str, name: str) -> str | None:
    """As Node.js looks for a package: beside, then further out."""
    while True:
        place = f"{path}/node_modules/{name}" if path else f"node_modules/{name}"
        if place in at:
            return place
        if not path:
            return None
        path = path.rpartition("/node_modules/")[0] if "/node_modules/" in path else ""
