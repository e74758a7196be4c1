"""Every endpoint has its line in the table of who may call it."""

from tertulia.kernel.endpoint import PREFIX, Endpoint
from tertulia.server.app import endpoints_of
from tertulia.server.features import FEATURES
from tests.features.tables.endpoint_table import COLUMNS, TABLE

KINDS = {
    "Person": "ANYBODY",
    "Sender": "SENDERS",
    "Human": "HUMANS",
    "Member": "MEMBERS",
    "HumanMember": "HUMAN_MEMBERS",
    "Administrator": "ADMINISTRATORS",
    "Owner": "OWNERS",
}


def key_of(endpoint: Endpoint) -> str:
    if endpoint.path.startswith(PREFIX):
        return f"{endpoint.method} {endpoint.path.removeprefix(PREFIX)}"
    return f"{endpoint.method} outside {endpoint.path}"


def test_every_endpoint_has_its_line_in_the_table_of_who_may_call_it() -> None:
    endpoints = {key_of(endpoint): endpoint for endpoint in endpoints_of(FEATURES)}
    missing = [
        f'    "{key}": Row({KINDS.get(endpoint.caller.type.__name__, "ANYBODY") if endpoint.caller else "EVERYBODY"}),'
        for key, endpoint in endpoints.items()
        if key not in TABLE
    ]
    told = "add to tests/features/tables/endpoint_table.py (fields with which it succeeds: see there):\n" + "\n".join(
        missing
    )
    assert not missing, told
    assert set(TABLE) <= set(endpoints), "these endpoints are gone"


def test_every_line_of_the_table_has_a_letter_for_each_kind_of_caller() -> None:
    for key, row in TABLE.items():
        assert len(row.letters) == len(COLUMNS), key
        assert set(row.letters) <= set("+gbao-ud"), key
