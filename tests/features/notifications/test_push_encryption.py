"""The encryption of pushes, against the example of the standard."""

import pytest

from tertulia.notifications.push.crypto import MAX_PAYLOAD, encrypt
from tests.harness.bot_server import bot_server
from tests.harness.push_service import Browser, data


def test_encryption_is_that_of_the_standard() -> None:
    # The example in RFC 8291, section 5: our browser reads it, so it reads by the book.
    private, secret = data("q1dXpw3UpT5VOmu_cf_v6ih07Aems3njxI-JWgLcM94"), data("BTBZMqHH6r4Tts7J_aSIgg")
    with bot_server() as service:
        browser = Browser(service, private_key=private, secret=secret)
    assert browser.fields["p256dh"].startswith("BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcx")
    body = data(
        "DGv6ra1nlYgDCS1FRnbzlwAAEABBBP4z9KsN6nGRTbVYI_c7VJSPQTBtkgcy27mlmlMoZIIgDll6e3vCYLocInmYWAmS6TlzAC8wEqKK6PBru3jl7A_"
        "yl95bQpu6cVPTpK4Mqgkf1CXztLVBSt2Ks3oZwbuwXPXLWyouBWLVWGNWQexSgSxsj_Qulcy4a-fN"
    )
    assert browser.decrypt(body) == b"When I grow up, I want to be a watermelon"
    point = data(browser.fields["p256dh"])
    assert browser.decrypt(encrypt(b"x" * MAX_PAYLOAD, point, secret)) == b"x" * MAX_PAYLOAD
    assert len(encrypt(b"x" * MAX_PAYLOAD, point, secret)) <= 4096
    with pytest.raises(ValueError, match="long"):
        encrypt(b"x" * (MAX_PAYLOAD + 1), point, secret)
