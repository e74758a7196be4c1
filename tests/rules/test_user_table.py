"""Every parameter that names a user is asked about users who cannot be seen (test_unseen_users.py)."""

from tertulia.kernel.endpoint import PREFIX
from tertulia.server.app import endpoints_of
from tertulia.server.features import FEATURES
from tests.features.tables.user_table import CALLS, GROUP_VALUES, NO_CALL, names_a_user


def test_every_parameter_that_names_a_user_is_in_the_table() -> None:
    naming = {
        f"{endpoint.method} {endpoint.path.removeprefix(PREFIX)} {name}"
        for endpoint in endpoints_of(FEATURES)
        for name in [*endpoint.path_params, *(name for param in endpoint.params for name in param.names)]
        if names_a_user(name)
    } | {GROUP_VALUES}
    missing = sorted(naming - CALLS.keys() - NO_CALL.keys())
    assert not missing, f"add to tests/features/tables/user_table.py a call, or a reason for none: {missing}"
    assert CALLS.keys() | NO_CALL.keys() <= naming, f"these are gone: {(CALLS.keys() | NO_CALL.keys()) - naming}"
    assert not CALLS.keys() & NO_CALL.keys()
