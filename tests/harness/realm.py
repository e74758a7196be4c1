"""An organization of a test's own, so that what it changes concerns nobody else."""

from tests.harness.server import ADMINISTRATOR, GUEST, MEMBER, MODERATOR, OWNER, User
from tests.harness.stage import Stage
from tests.harness.talk import Json, Queue, Speaker


class Realm:
    """An organization of a test's own, with one user of each role."""

    def __init__(self, stage: Stage) -> None:
        self.stage = stage
        self.id, self.subdomain, users = stage.realm_with(OWNER, ADMINISTRATOR, MODERATOR, MEMBER, GUEST)
        self.host = f"{self.subdomain}.localhost"
        self.all = tuple(map(self.as_user, users))
        self.owner, self.administrator, self.moderator, self.member, self.guest = self.all

    def speaker(self, role: int = MEMBER, *, url: str | None = None) -> Speaker:
        return self.stage.speaker(self.stage.user(role, realm_id=self.id), host=self.host, url=url)

    def bot(self, owner: Speaker) -> Speaker:
        user = self.stage.user(realm_id=self.id, bot_type=1)
        self.stage.sql("update account set bot_owner_id = %s where id = %s", owner.id, user.user_id)
        return self.stage.speaker(user, host=self.host)

    def as_user(self, user: User, *, url: str | None = None) -> Speaker:
        return self.stage.speaker(user, host=self.host, url=url)


def people_events(queue: Queue) -> list[Json]:
    return [event for event in queue.so_far() if event["type"] == "realm_user"]


def listening(speaker: Speaker, *types: str, **options: object) -> Queue:
    fetched = ["realm_user", *types]
    return Queue(speaker, event_types=[*fetched, "message"], fetch_event_types=fetched, **options)
