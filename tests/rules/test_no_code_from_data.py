"""Nothing that is stored or sent is ever run (docs/reference/advisories.md, BO-03): data is JSON, decoded into types."""

import ast
from pathlib import Path

SOURCE = Path(__file__).parents[2] / "src" / "tertulia"
MODULES = {"pickle", "marshal", "shelve", "dill", "cloudpickle", "yaml", "jinja2", "mako"}
CALLS = {"eval", "exec", "compile", "__import__"}


def test_bo_03_no_module_turns_data_into_code() -> None:
    found = []
    for path in SOURCE.rglob("*.py"):
        text = path.read_text()
        # Most modules name none of them, and need not be understood.
        tree = ast.parse(text if any(word in text for word in MODULES | CALLS) else "")
        for node in ast.walk(tree):
            names: set[str] = set()
            if isinstance(node, ast.Import):
                names = {alias.name.partition(".")[0] for alias in node.names} & MODULES
            elif isinstance(node, ast.ImportFrom):
                names = {(node.module or "").partition(".")[0]} & MODULES
            elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
                names = {node.func.id} & CALLS
            found += [f"{path.relative_to(SOURCE)}: {name}" for name in names]
    assert found == []
