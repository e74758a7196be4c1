"""The software bill of materials: CycloneDX 1.6 in JSON, made of the lock files alone, so that it needs no network.

It has no time and no random number in it: the same locks make the same file.
    bin/sbom            prints it
    bin/sbom FILE       writes it
"""

import base64
import json
import sys
from importlib.resources import files
from pathlib import Path
from typing import Any

from tertulia import __version__
from tests.check.locked import US, Package, python_packages, web_packages


def main() -> None:
    """Check it against the schema, then print or write it."""
    bill = bill_of_materials()
    if problems := problems_of(bill):
        raise SystemExit("The bill of materials is not valid:\n" + "\n".join(problems))
    text = json.dumps(bill, indent=2) + "\n"
    if len(sys.argv) > 1:
        file = Path(sys.argv[1])
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
        print(f"{file}: {len(bill['components'])} components")
    else:
        sys.stdout.write(text)


def bill_of_materials() -> dict[str, Any]:
    """Everything that is pinned, and what needs what."""
    root = {
        "type": "application",
        "bom-ref": US,
        "name": "tertulia",
        "version": __version__,
        "licenses": [{"license": {"id": "Apache-2.0"}}],
    }
    packages = [*python_packages(), *web_packages()]
    return {
        "$schema": "http://cyclonedx.org/schema/bom-1.6.schema.json",
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "version": 1,
        "metadata": {"component": root},
        "components": [_component(package) for package in packages],
        "dependencies": _dependencies(packages),
    }


def problems_of(bill: dict[str, Any]) -> list[str]:
    """What the schema of CycloneDX, and the rules it cannot express, say against it."""
    from jsonschema import Draft7Validator
    from referencing import Registry, Resource

    schema = _schema("bom-1.6")
    # They name each other by file, relative to the address of the first.
    address = schema["$id"].rpartition("/")[0]
    parts = {f"{name}.SNAPSHOT.schema.json": _schema(name) for name in ("spdx", "jsf-0.82", "cryptography-defs")}
    names = [
        (place + name, Resource.from_contents(part)) for name, part in parts.items() for place in ("", f"{address}/")
    ]
    validator = Draft7Validator(schema, registry=Registry().with_resources(names))
    found = [f"{error.json_path}: {error.message[:200]}" for error in validator.iter_errors(bill)]
    known = [component.get("bom-ref", "") for component in bill["components"]] + [US]
    found += [f"twice: {ref}" for ref in sorted(set(known)) if known.count(ref) > 1]
    for line in bill["dependencies"]:
        found += [f"unknown: {ref}" for ref in [line["ref"], *line["dependsOn"]] if ref not in known]
    return found


def _schema(name: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(
        (files("cyclonedx.schema") / "_res" / f"{name}.SNAPSHOT.schema.json").read_text()
    )
    return found


def _component(package: Package) -> dict[str, Any]:
    component: dict[str, Any] = {
        "type": "library",
        "bom-ref": package.purl,
        "name": package.name,
        "version": package.version,
        "scope": package.scope,
        "purl": package.purl,
    }
    if package.license:
        component["licenses"] = [{"expression": package.license}]
    if package.integrity.startswith("sha512-"):
        digest = base64.b64decode(package.integrity.removeprefix("sha512-")).hex()
        component["hashes"] = [{"alg": "SHA-512", "content": digest}]
    return component


def _dependencies(packages: list[Package]) -> list[dict[str, Any]]:
    """By whom each is needed, turned round."""
    needs: dict[str, set[str]] = {ref: set() for ref in (US, *(package.purl for package in packages))}
    by_name: dict[str, list[str]] = {}
    for package in packages:
        if package.kind == "pypi":
            by_name.setdefault(package.name, []).append(package.purl)
    for package in packages:
        for who in package.needed_by:
            for ref in by_name.get(who, [who]):
                needs[ref].add(package.purl)
    return [{"ref": ref, "dependsOn": sorted(found)} for ref, found in needs.items()]


if __name__ == "__main__":
    main()
