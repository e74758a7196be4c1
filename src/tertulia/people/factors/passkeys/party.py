"""Who we are to an authenticator: the organization's own address, from the settings and from no header of a request."""

import ipaddress

import msgspec

from tertulia.kernel.auth import Caller
from tertulia.kernel.call import Call
from tertulia.kernel.errors import Refusal
from tertulia.kernel.settings import Settings
from tertulia.kernel.urls import split_url
from tertulia.organization.realms.queries import Realm
from tertulia.organization.realms.routes import realm_url


class Party(msgspec.Struct, frozen=True):
    """The relying party of a ceremony."""

    id: str
    """The organization's host."""
    origin: str

    @property
    def is_possible(self) -> bool:
        """Whether browsers have passkeys for it: they do for names, not for addresses."""
        try:
            ipaddress.ip_address(self.id)
        except ValueError:
            return True
        return False

    def check(self) -> None:
        """Refuse where there are no passkeys."""
        if not self.is_possible:
            raise Refusal("Passkeys need a name: open this page by its name, not by its network address.")


def party_of(realm: Realm | Caller, call: Call, settings: Settings) -> Party:
    """The relying party for people of this organization. In development it is the address that the request came to."""
    origin = realm_url(realm, call, settings)
    return Party(split_url(origin).hostname or "", origin)
