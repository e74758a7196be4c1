"""Whether an answer is what the API description says: no failure, JSON of the described form, an error with its code."""

import json
from typing import Any

import jsonschema_rs

from tests.fuzz.connection import Answer
from tests.fuzz.requests import METHODS, Operation
from tests.fuzz.values import Json


class Answers:
    def __init__(self, document: Json) -> None:
        components = document["components"]
        self._schemas: dict[tuple[str, str], Any] = {}
        """By the operation's name, and the status or `default`."""
        for methods in document["paths"].values():
            for method, said in methods.items():
                if method not in METHODS:
                    continue
                for status, response in said["responses"].items():
                    if reference := response.get("$ref"):
                        response = components["responses"][reference.rpartition("/")[2]]
                    content = response.get("content", {}).get("application/json")
                    if content is not None:
                        whole = {**content["schema"], "components": components}
                        self._schemas[said["operationId"], status] = jsonschema_rs.Draft202012Validator(whole)

    def fault(self, operation: Operation, answer: Answer) -> str | None:
        """What is wrong with it, if anything is."""
        if answer.status >= 500 and answer.status != 503:  # 503 is a refusal: too much is asked at this moment
            return f"status {answer.status}: {answer.body[:500]!r}"
        schema = self._schemas.get((operation.name, str(answer.status))) or (
            None if answer.status < 400 else self._schemas.get((operation.name, "default"))
        )
        if schema is None:
            return None if answer.status < 400 else f"status {answer.status} is not described"
        if not answer.content_type.startswith("application/json"):
            return f"status {answer.status} is {answer.content_type or 'of no type'}: {answer.body[:300]!r}"
        try:
            value = json.loads(answer.body)
        except ValueError as error:
            return f"no JSON ({error}): {answer.body[:300]!r}"
        problems = [
            f"{'/'.join(map(str, one.instance_path))}: {one.message[:200]}" for one in schema.iter_errors(value)
        ]
        return f"status {answer.status}: {'; '.join(problems[:3])} in {answer.body[:500]!r}" if problems else None
