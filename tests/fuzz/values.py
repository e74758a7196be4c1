"""A value for a parameter: as its schema wants it, at its edge, of another kind, or made to do harm.

Pure: the same random generator gives the same values.
"""

from random import Random
from typing import Any

Json = dict[str, Any]

LETTERS = "abcdefghij ABC.,-_/\\'\"<>&%$#@!?*~`|[](){}:;=+\n\t0123456789äöüßéñ漢字עברית😀"
HOSTILE_TEXTS = (
    "",
    " ",
    "\x00",
    "a\x00b",
    "\u202egnp.exe",
    "\u200b\u200d\ufeff",
    "\ud800".encode("utf-8", "surrogatepass").decode("latin-1"),
    "'; drop table account; --",
    "<script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "javascript:alert(1)",
    "../../../../etc/passwd",
    "%00%2e%2e%2f",
    "{{7*7}}${7*7}",
    "@**all** @*everyone* #**general>x** [x](javascript:1) ![](http://127.0.0.1/)",
    "```" * 30,
    "> " * 60,
    "- " * 60,
    "*" * 300,
    "[" * 300,
    "|a" * 150,
    "$$" * 100,
    "a" * 10_001,
    "é" * 1_000,
    "\U0001f469\u200d\U0001f469\u200d\U0001f467" * 20,
    "NaN",
    "null",
    "true",
    "[]",
    "{}",
    "-1",
    "1e999",
    "9" * 40,
    "newest",
    "everyone@example.com",
    "http://169.254.169.254/latest/meta-data/",
    "2026-02-30T25:61:61Z",
    "/me",
    "/poll x\ny",
    "/todo x",
)
HOSTILE_NUMBERS = (0, -1, 1, 2, 2**31 - 1, 2**31, 2**53, 2**63 - 1, 2**63, -(2**63), 2**64, 10**30, 0.5, 1e308)
HOSTILE_VALUES: tuple[Any, ...] = (None, True, False, [], {}, "", 0, [[]], [None], {"": None}, [{}], {"a": {"b": []}})
MAX_DEPTH = 6


class Values:
    """Values for schemas; `components` are what references lead to."""

    def __init__(self, random: Random, components: Json) -> None:
        self._random = random
        self._components = components

    def make(self, schema: Json, depth: int = 0) -> Any:
        """Usually a value that fits, sometimes one that does not."""
        chance = self._random.random()
        if chance < 0.08:
            return self.hostile(depth)
        return self._fitting(schema, depth, is_edge=chance < 0.25)

    def fitting(self, schema: Json) -> Any:
        """A value that fits."""
        return self._fitting(schema, 0, is_edge=False)

    def hostile(self, depth: int = 0) -> Any:
        kind = self._random.randrange(5)
        if kind == 0:
            return self._random.choice(HOSTILE_NUMBERS)
        if kind == 1:
            return self._random.choice(HOSTILE_VALUES)
        if kind == 2 and depth < MAX_DEPTH:
            return [self.hostile(depth + 1) for _ in range(self._random.randrange(4))]
        if kind == 3 and depth < MAX_DEPTH:
            return {self.text(): self.hostile(depth + 1) for _ in range(self._random.randrange(4))}
        return self._random.choice(HOSTILE_TEXTS)

    def text(self, most: int = 40) -> str:
        if self._random.random() < 0.15:
            return self._random.choice(HOSTILE_TEXTS)
        return "".join(self._random.choices(LETTERS, k=self._random.randrange(1, max(2, min(most, 40)))))

    def _fitting(self, schema: Json, depth: int, *, is_edge: bool) -> Any:
        if reference := schema.get("$ref"):
            return self.make(self._components[reference.rpartition("/")[2]], depth)
        if "enum" in schema:
            return self._random.choice(schema["enum"])
        for several in ("anyOf", "oneOf", "allOf"):
            if several in schema:
                return self.make(self._random.choice(schema[several]), depth)
        kind = schema.get("type")
        return self._of_kind(self._random.choice(kind) if isinstance(kind, list) else kind, schema, depth, is_edge)

    def _of_kind(self, kind: str | None, schema: Json, depth: int, is_edge: bool) -> Any:
        match kind:
            case "integer":
                return self._integer(schema, is_edge)
            case "number":
                return self._random.choice((0, 0.5, -1.5, 1e9, self._random.random()))
            case "boolean":
                return self._random.random() < 0.5
            case "null":
                return None
            case "string":
                most = schema.get("maxLength", 60)
                return "x" * (most + self._random.choice((0, 1))) if is_edge and most <= 20_000 else self.text(most)
            case "array":
                return self._array(schema, depth)
            case "object":
                return self._object(schema, depth)
            case _:
                return schema.get("const", self._random.choice((self.text(), 1, [1], ["a"], {})))

    def _integer(self, schema: Json, is_edge: bool) -> int:
        least, most = schema.get("minimum", -3), schema.get("maximum", 2**31)
        if is_edge:
            return int(self._random.choice((least, least - 1, most, most + 1)))
        return self._random.randint(least, min(most, max(least, 0) + 2_000))

    def _array(self, schema: Json, depth: int) -> list[Any]:
        if depth >= MAX_DEPTH:
            return []
        return [self.make(schema.get("items", {}), depth + 1) for _ in range(self._random.choice((0, 1, 1, 2, 3, 7)))]

    def _object(self, schema: Json, depth: int) -> Json:
        if depth >= MAX_DEPTH:
            return {}
        required = schema.get("required", ())
        return {
            name: self.make(one, depth + 1)
            for name, one in schema.get("properties", {}).items()
            if self._random.random() < (0.95 if name in required else 0.35)
        }
