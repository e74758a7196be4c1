"""Features ask what a client understands by the capability's name: each name must be one that a client can say."""

import ast
from pathlib import Path

from tertulia.server.registration.routes import understood

ROOT = Path(__file__).parents[2] / "src" / "tertulia"
SAID = set(understood(None, slim_presence=False))


def asked_for(trees: dict[str, ast.Module]) -> dict[str, set[str]]:
    """The names that are asked for, with the files: in `understands(name)`, `needs=name` and `lacks=name`."""
    constants = {
        target.id: node.value.value
        for tree in trees.values()
        for node in tree.body
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)
        for target in node.targets
        if isinstance(target, ast.Name)
    }
    found: dict[str, set[str]] = {}
    for path, tree in trees.items():
        for call in [node for node in ast.walk(tree) if isinstance(node, ast.Call)]:
            values = [word.value for word in call.keywords if word.arg in ("needs", "lacks")]
            if isinstance(call.func, ast.Attribute) and call.func.attr == "understands":
                values += call.args
            for value in values:
                for name in names_in(value, constants):
                    found.setdefault(name, set()).add(path)
    return found


def names_in(value: ast.expr, constants: dict[str, str]) -> list[str]:
    if isinstance(value, ast.IfExp):
        return names_in(value.body, constants) + names_in(value.orelse, constants)
    if isinstance(value, ast.Constant):
        return [str(value.value)] if value.value else []
    if isinstance(value, ast.Name):
        return [constants.get(value.id, value.id)]
    return []


def test_every_capability_that_a_feature_asks_for_can_be_said() -> None:
    trees = {
        str(path.relative_to(ROOT)): ast.parse(text)
        for path in ROOT.rglob("*.py")
        if path.parent != ROOT / "events" / "queues"
        # Whoever asks, and where a constant may be that says for what: other modules need not be understood.
        if any(word in (text := path.read_text()) for word in {"needs", "lacks", "understands", *SAID})
    }
    found = asked_for(trees)
    assert len(found) > 8, "nothing is found any more: have the names changed?"
    assert {name: paths for name, paths in found.items() if name not in SAID} == {}


def test_a_misspelt_capability_is_found() -> None:
    tree = ast.parse('KNOWS = "archived_chanels"\nx = Audience(needs=KNOWS)\ny = options.understands("empty_topic")')
    assert set(asked_for({"x.py": tree})) == {"archived_chanels", "empty_topic"}
