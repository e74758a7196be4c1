"""Features declare themselves: what a package brings to the server is in its FEATURE, and each FEATURE is in the list."""

import ast
import inspect
from collections import Counter
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

import tertulia
from tertulia.events.queues.initial_state import Provider
from tertulia.kernel.services import Services
from tertulia.kernel.settings import Settings
from tertulia.server.app import presenters_of
from tertulia.server.features import FEATURES
from tertulia.server.ground import GROUND

SOURCES = Path(tertulia.__file__).parent
THE_TYPE = "tertulia.events.feature"


def modules_named(file: str) -> list[ModuleType]:
    paths = sorted(SOURCES.rglob(file))
    return [import_module(".".join(["tertulia", *path.relative_to(SOURCES).with_suffix("").parts])) for path in paths]


def test_every_package_that_declares_a_feature_is_in_the_list_once() -> None:
    declared = [module for module in modules_named("feature.py") if module.__name__ != THE_TYPE]
    assert len(declared) > 40
    assert {id(module.FEATURE) for module in declared} == {id(one) for one in FEATURES if one is not GROUND}
    assert len(FEATURES) == len(declared) + 1
    for module in declared:
        assert module.FEATURE.name == module.__name__.split(".")[-2], module.__name__


def test_every_module_of_endpoints_belongs_to_one_feature() -> None:
    owners = Counter(module.__name__ for feature in FEATURES for module in feature.routes)
    assert owners == {module.__name__: 1 for module in modules_named("routes.py")}


def test_endpoints_of_a_feature_are_in_its_own_package() -> None:
    for feature in FEATURES:
        if feature is not GROUND:
            assert [one.__name__ for one in feature.routes if f".{feature.name}." not in one.__name__] == []


def test_every_module_of_types_belongs_to_one_feature() -> None:
    owners = Counter(feature.wire.__name__ for feature in FEATURES if feature.wire is not None)
    assert owners == {
        module.__name__: 1 for module in modules_named("wire.py") if module.__name__ != "tertulia.events.wire"
    }


def test_no_two_features_give_the_same_key_of_the_state() -> None:
    keys = Counter(key for feature in FEATURES for key in getattr(feature.wire, "KEYS", {}))
    assert len(keys) > 250
    assert [key for key, count in keys.items() if count > 1] == []


def test_every_part_of_the_state_belongs_to_one_feature() -> None:
    owners = Counter(id(part) for feature in FEATURES for part in feature.state)
    parts = {
        f"{module.__name__}.{name}": owners[id(value)]
        for module in modules_named("state.py")
        for name, value in vars(module).items()
        if isinstance(value, Provider)
    }
    assert len(parts) > 25
    assert {name: count for name, count in parts.items() if count != 1} == {}


def test_every_presenter_shows_the_events_of_one_feature() -> None:
    written = {
        value
        for module in modules_named("events.py")
        for value in vars(module).values()
        if inspect.isclass(value) and hasattr(value, "present") and value.__module__ == module.__name__
    }
    assert len(written) > 8
    shown = presenters_of(FEATURES, Services({Settings: Settings()}, []))
    assert {type(one) for one in shown.values()} == written
    types = Counter(type for feature in FEATURES for type in feature.presenters)
    assert max(types.values()) == 1


def test_chores_are_declared_by_features_only_and_have_names_of_their_own() -> None:
    elsewhere = [
        str(path.relative_to(SOURCES))
        for path in SOURCES.rglob("*.py")
        if path.name not in ("feature.py", "ground.py", "chores.py") and calls(path, "Chore", "housekeeping")
    ]
    assert elsewhere == []
    names = Counter(chore.name for feature in FEATURES for chore in feature.chores)
    assert len(names) > 15
    assert max(names.values()) == 1


def calls(path: Path, *names: str) -> bool:
    """Whether a module calls one of these."""
    text = path.read_text()
    if not any(f"{name}(" in text for name in names):
        return False
    found: list[Any] = [node.func for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Call)]
    return any(isinstance(function, ast.Name) and function.id in names for function in found)


def test_the_composition_stays_short() -> None:
    assert len((SOURCES / "server" / "app.py").read_text().splitlines()) < 200
