"""Where objects are kept in a bucket, those of somebody who is erased go from there too."""

from pathlib import Path

import pytest

from tests.harness.bucket import Bucket, s3_service
from tests.harness.command import tertulia
from tests.harness.files import upload
from tests.harness.picture_server import picture
from tests.harness.realm import Realm
from tests.harness.server import OwnServer, Server
from tests.harness.stage import Web
from tests.harness.talk import check_success


def test_files_and_pictures_of_who_is_erased_are_deleted_from_a_bucket(
    realm: Realm, server: Server, folder: Path
) -> None:
    if not isinstance(server, OwnServer):
        pytest.skip("pauses its worker, which knows another store")
    person, other = realm.speaker(), realm.member
    with s3_service(folder) as address:
        bucket = Bucket(address, "erased")
        web = Web(server, folder, **bucket.settings)
        try:
            web.wait()
            there, beside = (realm.as_user(one.user, url=web.url) for one in (person, other))
            with server.paused("worker"):
                upload(there, "notes.txt", b"mine")
                check_success(there.http.post("users/me/avatar", files={"f": ("me.png", picture(40, 40))}))
                upload(beside, "notes.txt", b"of somebody else")
                keys = _keys(bucket)
                assert len(keys) >= 3
                words = ("user", "erase", str(person.id), "--realm", realm.subdomain, "--yes")
                done = tertulia(*words, env=server.environment(**bucket.settings))
                assert done.returncode == 0, done.stderr
                [(kept,)] = realm.stage.sql("select key from attachment where owner_id = %s", other.id)
                assert _keys(bucket) == {f"tertulia/{kept}"}
        finally:
            web.stop()


def _keys(bucket: Bucket) -> set[str]:
    listed = bucket.http.get(f"/{bucket.name}?list-type=2").text
    return {part.split("</Key>")[0] for part in listed.split("<Key>")[1:]}
