"""The web client has a place for everything that the API offers, or says why not (docs/web_parity.py, web/parity.toml)."""

import pytest

from docs.web_parity import calls_in, compare


def test_every_endpoint_and_setting_is_in_the_web_client_or_is_exempted() -> None:
    assert compare().open() == [], "build them in web/src, or say in web/parity.toml why not"


def test_nothing_is_exempted_that_is_used_or_that_does_not_exist() -> None:
    assert compare().unneeded == []


@pytest.mark.parametrize(
    ("source", "call"),
    [
        ("await world.api.post('typing', { op })", ("POST", "typing")),
        ("world.api\n    .get<{ a: B[] }>(`streams/${id}/members`)", ("GET", "streams/{}/members")),
        ("const path = `user_groups/${group.id}`\napi.post(`${path}/members`)", ("POST", "user_groups/{}/members")),
        ("const path = mine ? `invites/${id}` : 'other'\napi.delete(path)", ("DELETE", "invites/{}")),
        ("this.#once<SignedIn>('DELETE', 'sessions/current', {}, {})", ("DELETE", "sessions/current")),
        ('<PictureButton label={a} path="realm/icon" />', ("POST", "realm/icon")),
        ("`/api/v1/audit_log/csv?${query}`", ("GET", "audit_log/csv")),
    ],
)
def test_a_call_is_found_however_it_is_written(source: str, call: tuple[str, str]) -> None:
    assert call in set(calls_in(source))


@pytest.mark.parametrize(
    "source",
    ["names.get('typing')", "api.post('typing')", "const kind = 'typing'\nnames.get(kind)", "t('typing')"],
)
def test_a_text_that_is_no_call_of_that_method_is_none(source: str) -> None:
    assert ("GET", "typing") not in set(calls_in(source))
