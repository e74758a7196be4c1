"""Endpoints for the tokens of phones: success without effect, as GET /server_settings says (`push_notifications_enabled`)."""

from typing import Annotated

import msgspec

from tertulia.kernel.auth import Human
from tertulia.kernel.endpoint import delete, post

Token = Annotated[str, msgspec.Meta(min_length=1, max_length=5000)]


@post("/users/me/apns_device_token")
async def add_apple_token(_caller: Human, *, token: Token, appid: str = "") -> None:
    """Take the token of an iPhone. Nothing is stored: this server sends no push notifications to phones."""


@delete("/users/me/apns_device_token")
async def remove_apple_token(_caller: Human, *, token: Token) -> None:
    """Forget a token that was never stored."""


@post("/users/me/android_gcm_reg_id")
async def add_android_token(_caller: Human, *, token: Token) -> None:
    """Take the token of an Android phone. Nothing is stored: this server sends no push notifications to phones."""


@delete("/users/me/android_gcm_reg_id")
async def remove_android_token(_caller: Human, *, token: Token) -> None:
    """Forget a token that was never stored."""
