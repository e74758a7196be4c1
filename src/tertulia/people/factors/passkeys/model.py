"""What goes to browsers and comes from them (WebAuthn's JSON forms), and what is kept of a passkey."""

from typing import Annotated, Literal

import msgspec

from tertulia.people.users.assertion import ClientDataText, CredentialId

MAX_LABEL = 60
Label = Annotated[str, msgspec.Meta(max_length=MAX_LABEL)]
Transport = Annotated[str, msgspec.Meta(max_length=20)]


class Passkey(msgspec.Struct, frozen=True):
    """A passkey of one's own."""

    id: int
    label: str
    created: int
    last_used: int | None
    is_verifying: bool
    """It asks for a finger, a face or a PIN, and so logs in without a password. Others are a second step only."""
    is_synced: bool
    """It is kept by a service, and on several devices."""


class AttestationResponse(msgspec.Struct, frozen=True):
    """The new key, as the authenticator has made it."""

    client_data: ClientDataText = msgspec.field(name="clientDataJSON")
    attestation_object: Annotated[str, msgspec.Meta(max_length=16000)] = msgspec.field(name="attestationObject")
    """About 200 bytes; 8,000 with the certificates of some makers, which browsers may send although we do not ask."""
    transports: Annotated[list[Transport], msgspec.Meta(max_length=10)] = []


class NewCredential(msgspec.Struct, frozen=True):
    """A passkey that was just made (WebAuthn's `RegistrationResponseJSON`)."""

    id: CredentialId
    raw_id: CredentialId = msgspec.field(name="rawId")
    type: Annotated[str, msgspec.Meta(max_length=20)]
    response: AttestationResponse


class RelyingParty(msgspec.Struct, frozen=True):
    """Whom a passkey is for."""

    id: str
    name: str


class PasskeyUser(msgspec.Struct, frozen=True, rename="camel"):
    """Whose passkey it will be."""

    id: str
    name: str
    display_name: str


class Parameter(msgspec.Struct, frozen=True):
    """An algorithm that we take, as COSE numbers them."""

    alg: int
    type: Literal["public-key"] = "public-key"


class Descriptor(msgspec.Struct, frozen=True):
    """A passkey that exists."""

    id: str
    transports: list[str]
    type: Literal["public-key"] = "public-key"


class Selection(msgspec.Struct, frozen=True, rename="camel"):
    """What we wish of the authenticator."""

    resident_key: Literal["preferred"] = "preferred"
    user_verification: Literal["preferred"] = "preferred"


class CreationOptions(msgspec.Struct, frozen=True, rename="camel"):
    """What `navigator.credentials.create` is called with (`PublicKeyCredentialCreationOptionsJSON`)."""

    rp: RelyingParty
    user: PasskeyUser
    challenge: str
    pub_key_cred_params: list[Parameter]
    timeout: int
    exclude_credentials: list[Descriptor]
    authenticator_selection: Selection = Selection()
    attestation: Literal["none"] = "none"


class RequestOptions(msgspec.Struct, frozen=True, rename="camel"):
    """What `navigator.credentials.get` is called with (`PublicKeyCredentialRequestOptionsJSON`)."""

    challenge: str
    timeout: int
    rp_id: str
    allow_credentials: list[Descriptor]
    """Empty: any passkey of this organization."""
    user_verification: Literal["required", "preferred"]
