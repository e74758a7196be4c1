"""What a browser sends when a passkey was used (WebAuthn's `AuthenticationResponseJSON`): its binary parts are base64url."""

from typing import Annotated

import msgspec

CredentialId = Annotated[str, msgspec.Meta(max_length=1400)]
"""1,023 bytes at most."""
ClientDataText = Annotated[str, msgspec.Meta(max_length=2000)]
"""A challenge and an origin or two: some hundred bytes."""


class AssertionResponse(msgspec.Struct, frozen=True):
    """What the authenticator signed, and how."""

    client_data: ClientDataText = msgspec.field(name="clientDataJSON")
    authenticator_data: Annotated[str, msgspec.Meta(max_length=2000)] = msgspec.field(name="authenticatorData")
    signature: Annotated[str, msgspec.Meta(max_length=1000)]
    """512 bytes of the longest RSA key."""
    user_handle: Annotated[str, msgspec.Meta(max_length=100)] | None = msgspec.field(name="userHandle", default=None)


class Assertion(msgspec.Struct, frozen=True):
    """That a passkey was used, for one challenge."""

    id: CredentialId
    raw_id: CredentialId = msgspec.field(name="rawId")
    type: Annotated[str, msgspec.Meta(max_length=20)]
    response: AssertionResponse
