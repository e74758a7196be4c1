"""The manifest of an organization and its icons: what an installed client is called and looks like."""

import io
import statistics
import time
from typing import Any

import httpx
import pytest
from PIL import Image

from tertulia.content.pictures.icons import AppIcons
from tertulia.server.installing import MAX_KEPT_BYTES, Installing
from tests.contract.test_avatar import upload
from tests.harness.realm import Realm
from tests.harness.stage import Stage
from tests.harness.talk import check_success


def get(realm: Realm, path: str, host: str | None = None) -> httpx.Response:
    """As somebody who is not logged in."""
    url = realm.stage.server.url + path
    return httpx.get(url, headers={"host": host or realm.host}, trust_env=False)


def picture(colour: str) -> bytes:
    written = io.BytesIO()
    Image.new("RGB", (300, 300), colour).save(written, "PNG")
    return written.getvalue()


def pixels(reply: httpx.Response) -> Image.Image:
    assert (reply.status_code, reply.headers["content-type"]) == (200, "image/png")
    return Image.open(io.BytesIO(reply.content)).convert("RGBA")


def test_an_organization_is_installed_with_its_own_name_icon_and_colour(realm: Realm) -> None:
    plain = get(realm, "/manifest.webmanifest")
    assert plain.headers["content-type"] == "application/manifest+json"
    check_success(upload(realm.administrator, picture("#2040c0"), path="realm/icon"))
    check_success(realm.owner.request("PATCH", "realm", name="The Quay"))
    manifest = get(realm, "/manifest.webmanifest").json()
    assert (manifest["name"], manifest["theme_color"]) == ("The Quay", "#2848c8")
    assert plain.json()["theme_color"] != manifest["theme_color"]
    shapes = {(icon["sizes"], icon["purpose"]) for icon in manifest["icons"]}
    assert shapes == {(f"{side}x{side}", purpose) for side in (192, 512) for purpose in ("any", "maskable")}
    for icon in manifest["icons"]:
        reply = get(realm, icon["src"])
        image = pixels(reply)
        side = int(icon["sizes"].split("x")[0])
        assert (image.size, image.getpixel((0, 0))) == ((side, side), (0x20, 0x40, 0xC0, 255))
        assert "immutable" in reply.headers["cache-control"]
    assert pixels(get(realm, "/apple-touch-icon.png")).size == (180, 180)
    check_success(realm.administrator.request("DELETE", "realm/icon"))
    assert get(realm, manifest["icons"][0]["src"]).status_code == 404
    again = get(realm, "/manifest.webmanifest").json()
    assert again["icons"] == plain.json()["icons"]


def test_icons_of_ours_have_no_holes_where_systems_cut_them(realm: Realm) -> None:
    icons = {icon["purpose"]: icon["src"] for icon in get(realm, "/manifest.webmanifest").json()["icons"]}
    assert pixels(get(realm, icons["any"])).getpixel((0, 0)) == (0, 0, 0, 0)
    for path in (icons["maskable"], "/apple-touch-icon.png"):
        assert pixels(get(realm, path)).getchannel("A").getextrema() == (255, 255), path


@pytest.mark.timed
@pytest.mark.slow
def test_what_colour_an_icon_has_is_found_out_once_however_many_organizations_there_are(stage: Stage) -> None:
    realms = [Realm(stage) for _ in range(18)]
    for number, one in enumerate(realms):
        check_success(upload(one.administrator, picture(f"#{number:02x}40c0"), path="realm/icon"))

    def seconds(one: Realm) -> float:
        started = time.perf_counter()
        assert get(one, "/manifest.webmanifest").status_code == 200
        return time.perf_counter() - started

    first = [seconds(one) for one in realms]
    assert statistics.median(map(seconds, realms)) < min(first) / 3


def test_icons_take_so_much_memory_and_no_more() -> None:
    nothing: Any = None
    installing = Installing(nothing, nothing, nothing, nothing)
    for number in range(300):
        installing._keep(f"{number % 200}", AppIcons("#000000", {"512": bytes(1024 * 1024)}))
    assert sum(len(one.icons["512"]) for one in installing._made.values()) == installing._bytes == MAX_KEPT_BYTES
    assert len(installing._colours) == 200


def test_where_no_organization_lives_there_is_no_manifest(realm: Realm) -> None:
    _, _, domain = realm.host.partition(".")
    nobody = get(realm, "/manifest.webmanifest", f"no-such-organization.{domain}")
    assert (nobody.status_code, nobody.json()["code"]) == (404, "NOT_FOUND")
    assert get(realm, "/app_icons/default/64.png").status_code == 404


def test_what_is_shared_with_a_client_without_a_service_worker_opens_it(realm: Realm) -> None:
    url = realm.stage.server.url + "/share"
    reply = httpx.post(url, data={"text": "hello"}, headers={"host": realm.host}, trust_env=False)
    assert (reply.status_code, reply.headers["location"]) == (303, "/")
