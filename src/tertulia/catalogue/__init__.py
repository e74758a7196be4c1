"""The catalogue: every event, and every key of POST /register, as types.

They are written once, here, out of the records that the features show. The API description publishes them, and the tests
hold every event and every state that any of them receives against that description (tests/schemas.py), with nothing
missing and nothing beside. So a new event or a new key of the state needs its line here, and nothing else.

Invariants
- One class for each pair of `type` and `op`: together they say which class an event is of.
- A key that is not always there is `... | UnsetType = UNSET`; one that may be null says so.
"""
