"""Lists that a statement is given, and its plan.

PostgreSQL takes a list whose length it does not know for one of ten. A statement that is given one or two each time looks so
much cheaper with that list than in general that PostgreSQL plans it anew with every call, though the plan is the same; for a
statement of many joins that takes longer than to run it. Behind a select the length is not seen: the plan is made once.
"""


def planned_once(parameter: str) -> str:
    """A list, such as `$2::bigint[]`, for `= any(...)` and `unnest(...)`."""
    _, _, kind = parameter.partition("::")
    return f"(select {parameter})::{kind}"
