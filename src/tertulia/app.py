"""The composition root: settings -> engines -> features -> ASGI application. A feature is added here, and nowhere else."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from functools import partial
from types import FrameType
from typing import Any

import asyncpg
import nats
import nats.errors
import structlog
import uvicorn
from nats.aio.client import Client

import tertulia.alerts.routes
import tertulia.avatars.routes
import tertulia.bots.routes
import tertulia.bots.storage_routes
import tertulia.channels.archive_routes
import tertulia.channels.changing_routes
import tertulia.channels.listing_routes
import tertulia.channels.properties_routes
import tertulia.channels.routes
import tertulia.custom_emoji.routes
import tertulia.devices.routes
import tertulia.downloads.routes
import tertulia.drafts.routes
import tertulia.edits.routes
import tertulia.events.routes
import tertulia.exports.routes
import tertulia.flags.routes
import tertulia.folders.routes
import tertulia.groups.routes
import tertulia.integrations.routes
import tertulia.invitations.routes
import tertulia.invitations.signup_routes
import tertulia.linkifiers.routes
import tertulia.logins.routes
import tertulia.messages.reading
import tertulia.messages.routes
import tertulia.mutes.routes
import tertulia.playgrounds.routes
import tertulia.preferences.routes
import tertulia.presence.routes
import tertulia.profiles.routes
import tertulia.pushes.routes
import tertulia.reactions.routes
import tertulia.realms.domain_routes
import tertulia.realms.picture_routes
import tertulia.realms.routes
import tertulia.realms.settings_routes
import tertulia.reminders.routes
import tertulia.reports.routes
import tertulia.resumable.routes
import tertulia.scheduled.routes
import tertulia.sessions.link_routes
import tertulia.sessions.oidc_routes
import tertulia.sessions.routes
import tertulia.snippets.routes
import tertulia.statuses.routes
import tertulia.topics.listing_routes
import tertulia.topics.routes
import tertulia.typing.routes
import tertulia.uploads.routes
import tertulia.users.routes
import tertulia.widgets.routes
from tertulia import __version__
from tertulia.alerts import state as alerts_state
from tertulia.avatars.serving import AvatarFinder
from tertulia.bots import state as bots_state
from tertulia.bots.defaults import ChannelHolder, queue_defaults
from tertulia.catalogue import state as catalogue_state
from tertulia.catalogue.events import EVENTS, AnyEvent, Events
from tertulia.channels import state as channels_state
from tertulia.channels.access import ChannelFinder, check_channel, hold_channels_named
from tertulia.compat import reply_without_old
from tertulia.custom_emoji import state as custom_emoji_state
from tertulia.drafts import state as drafts_state
from tertulia.edits.events import DeletePresenter, UpdatePresenter
from tertulia.events.gateway import Gateway
from tertulia.events.logged import Presenter
from tertulia.events.options import QueueDefaults
from tertulia.events.polls import Polls
from tertulia.events.register import InitialState, Spectators
from tertulia.events.stream import StreamUnavailable
from tertulia.folders import state as folders_state
from tertulia.gallery import Gallery
from tertulia.groups import state as groups_state
from tertulia.integrations import state as integrations_state
from tertulia.invitations.arrival import hold, welcome
from tertulia.kernel.db import LOST, Database, Reader, Transaction, as_refusal
from tertulia.kernel.docs_page import documentation
from tertulia.kernel.endpoint import collect
from tertulia.kernel.errors import Refusal, server_not_ready
from tertulia.kernel.http import Api
from tertulia.kernel.limits import LocalBudgets, RateLimits, RedisBudgets
from tertulia.kernel.openapi import About
from tertulia.kernel.process import collect_garbage_seldom, raise_open_files
from tertulia.kernel.settings import Settings
from tertulia.linkifiers import state as linkifiers_state
from tertulia.logins.keys import KeyUse
from tertulia.logins.login import PasswordLogin
from tertulia.messages.actions import Sending
from tertulia.messages.composing import Composer
from tertulia.messages.events import MessageFilter, MessagePresenter
from tertulia.messages.lane import SendLane
from tertulia.messages.notices import Notices
from tertulia.messages.places import Places
from tertulia.mutes import state as mutes_state
from tertulia.narrows import state as narrows_state
from tertulia.notices.actions import FOLLOW_UP as NOTICES
from tertulia.playgrounds import state as playgrounds_state
from tertulia.preferences import state as preferences_state
from tertulia.presence import state as presence_state
from tertulia.presence.actions import Pings
from tertulia.presence.book import Book
from tertulia.presence.events import PresencePresenter
from tertulia.profiles import state as profiles_state
from tertulia.profiles.queries import hold_fields
from tertulia.profiles.values import say_of
from tertulia.pushes.keys import PushKeys
from tertulia.reactions.events import ReactionPresenter
from tertulia.reads import state as reads_state
from tertulia.reads.events import FlagsPresenter
from tertulia.realms import state as realms_state
from tertulia.realms.absent import ABSENT
from tertulia.realms.changes import ChannelCheck
from tertulia.reminders import state as reminders_state
from tertulia.scheduled import state as scheduled_state
from tertulia.sessions.oidc_routes import Providers
from tertulia.site import Site
from tertulia.snippets import state as snippets_state
from tertulia.statuses import state as statuses_state
from tertulia.statuses.events import StatusPresenter
from tertulia.storage import Store, StoreUnavailable
from tertulia.topics import state as topics_state
from tertulia.topics.events import TopicPresenter
from tertulia.typing.actions import Typing
from tertulia.typing.events import EditingPresenter, TypingPresenter
from tertulia.uploads import state as uploads_state
from tertulia.uploads.actions import Uploading
from tertulia.users import state as users_state
from tertulia.users.arrival import Arrival
from tertulia.users.authenticate import KeyAuthenticator, refresh
from tertulia.users.directory import Directory
from tertulia.users.events import UserPresenter
from tertulia.users.profile import ProfileWriter
from tertulia.users.spectators import spectator_at
from tertulia.webclient.files import BuiltFiles
from tertulia.webclient.serving import WebClient

log = structlog.get_logger()

ROUTES = (
    tertulia.realms.routes,
    tertulia.realms.settings_routes,
    tertulia.realms.domain_routes,
    tertulia.realms.picture_routes,
    tertulia.avatars.routes,
    tertulia.groups.routes,
    tertulia.users.routes,
    tertulia.logins.routes,
    tertulia.sessions.routes,
    tertulia.sessions.oidc_routes,
    tertulia.sessions.link_routes,
    tertulia.bots.routes,
    tertulia.bots.storage_routes,
    tertulia.devices.routes,
    tertulia.exports.routes,
    tertulia.preferences.routes,
    tertulia.profiles.routes,
    tertulia.mutes.routes,
    tertulia.alerts.routes,
    tertulia.folders.routes,
    tertulia.channels.routes,
    tertulia.channels.listing_routes,
    tertulia.invitations.routes,
    tertulia.invitations.signup_routes,
    tertulia.topics.routes,
    tertulia.topics.listing_routes,
    tertulia.channels.properties_routes,
    tertulia.channels.changing_routes,
    tertulia.channels.archive_routes,
    tertulia.messages.routes,
    tertulia.messages.reading,
    tertulia.edits.routes,
    tertulia.drafts.routes,
    tertulia.snippets.routes,
    tertulia.typing.routes,
    tertulia.reactions.routes,
    tertulia.widgets.routes,
    tertulia.presence.routes,
    tertulia.statuses.routes,
    tertulia.custom_emoji.routes,
    tertulia.integrations.routes,
    tertulia.pushes.routes,
    tertulia.scheduled.routes,
    tertulia.reminders.routes,
    tertulia.linkifiers.routes,
    tertulia.playgrounds.routes,
    tertulia.reports.routes,
    tertulia.flags.routes,
    tertulia.uploads.routes,
    tertulia.downloads.routes,
    tertulia.resumable.routes,
    tertulia.events.routes,
)
STATE = (
    realms_state.version,
    realms_state.realm,
    realms_state.realm_domains,
    uploads_state.limits,
    *ABSENT,
    groups_state.realm_user_groups,
    bots_state.bot_domain,
    bots_state.realm_bots,
    bots_state.embedded_bots,
    integrations_state.webhook_bots,
    preferences_state.user_settings,
    preferences_state.defaults,
    preferences_state.old_display,
    preferences_state.old_notifications,
    profiles_state.custom_profile_fields,
    profiles_state.external_accounts,
    mutes_state.muted_users,
    alerts_state.alert_words,
    folders_state.channel_folders,
    channels_state.channels,
    channels_state.defaults,
    topics_state.user_topics,
    topics_state.muted_topics,
    reads_state.newest_message,
    reads_state.unread_messages,
    reads_state.starred_messages,
    reads_state.recent_conversations,
    narrows_state.stop_words,
    drafts_state.drafts,
    snippets_state.saved_snippets,
    presence_state.presences,
    statuses_state.user_status,
    custom_emoji_state.realm_emoji,
    scheduled_state.scheduled_messages,
    reminders_state.reminders,
    linkifiers_state.realm_linkifiers,
    linkifiers_state.realm_filters,
    playgrounds_state.realm_playgrounds,
)
PRESENTERS: dict[str, Presenter] = {
    "message": MessagePresenter(),
    "update_message": UpdatePresenter(),
    "delete_message": DeletePresenter(),
    "update_message_flags": FlagsPresenter(),
    "user_topic": TopicPresenter(),
    "muted_topics": TopicPresenter(),
    "typing": TypingPresenter(),
    "typing_edit_message": EditingPresenter(),
    "reaction": ReactionPresenter(),
    "user_status": StatusPresenter(),
}
ARRIVAL = Arrival(hold=hold, welcome=welcome)
ABOUT = "Parameters are form fields or query parameters; lists and objects are JSON. Log in with HTTP Basic: email, API key."
KEEP_ALIVE_SECONDS = 120
"""Longer than a poll waits, so that polling clients keep their connection."""


@asynccontextmanager
async def open_app(settings: Settings) -> AsyncIterator[tuple[Api, Gateway]]:
    """The application with its engines, waiting for them to come up; closed in the reverse order."""
    database = await _patiently("PostgreSQL", lambda: _connect_database(settings))
    came_back: list[Callable[[], None]] = []
    nc = await _patiently("NATS", lambda: _connect_nats(settings, came_back))
    lane = SendLane(database, settings.postgres_url)
    gateway = Gateway(nc, database, settings, channels_state.memberships, refresh)
    gateway.filters = {"message": MessageFilter()}
    came_back.append(gateway.reconnected)
    budgets = RedisBudgets(settings.redis_url) if settings.redis_url else LocalBudgets()
    key_use = KeyUse(database)
    await _patiently("JetStream", gateway.open)
    try:
        api = build_api(settings, database, lane, gateway, RateLimits(settings, budgets), key_use)
        key_use.start()
        yield api, gateway
    finally:
        await key_use.close()
        await budgets.close()
        await lane.close()
        await gateway.close()
        await nc.close()
        await database.close()


def build_api(
    settings: Settings,
    database: Database,
    lane: SendLane,
    gateway: Gateway,
    limits: RateLimits | None = None,
    key_use: KeyUse | None = None,
) -> Api:
    """Tie the features to their services."""
    limits = limits or RateLimits(settings, LocalBudgets())
    key_use = key_use or KeyUse(database)
    finder = ChannelFinder(database)
    store = Store(settings)
    directory = Directory(database)
    database.after_commit[NOTICES] = Notices(database, settings).deliver
    built = BuiltFiles(watch=settings.development)
    presenters = PRESENTERS | {"realm_user": UserPresenter(settings), "presence": PresencePresenter(settings)}
    services: dict[type, Any] = {
        Settings: settings,
        Database: database,
        Sending: Sending(Places(database, finder), Composer(database, finder, settings), lane),
        ChannelFinder: finder,
        Gateway: gateway,
        RateLimits: limits,
        Polls: Polls(gateway, presenters),
        InitialState: InitialState([*STATE, users_state.realm_users(directory)], settings),
        Directory: directory,
        Typing: Typing(database, finder, gateway.signals),
        Pings: Pings(database, gateway.signals),
        Book: Book(database),
        PasswordLogin: PasswordLogin(database, settings, ARRIVAL),
        Arrival: ARRIVAL,
        PushKeys: PushKeys(database, settings),
        BuiltFiles: built,
        Providers: Providers(settings),
        ProfileWriter: ProfileWriter(hold=hold_fields, write=say_of),
        ChannelCheck: ChannelCheck(check_channel, partial(check_channel, is_private=True)),
        QueueDefaults: queue_defaults(database),
        Spectators: Spectators(lambda call, reader: spectator_at(call, reader, settings)),
        ChannelHolder: ChannelHolder(hold_channels_named),
        Store: store,
        Uploading: Uploading(database, store, settings),
    }
    endpoints = collect(*ROUTES)
    authenticator = KeyAuthenticator(database, settings, key_use.note)
    gallery = Gallery(database, store, AvatarFinder(database, authenticator, settings.external_host))
    site = Site(database, gateway, WebClient(built), gallery)
    return Api(
        [*endpoints, *documentation(endpoints, about_api())],
        services=services,
        scopes={Transaction: database.transaction, Reader: database.reader},
        authenticator=authenticator,
        limits=limits if settings.rate_limits else None,
        translate=translate,
        observe=site.observe,
        external_host=settings.external_host,
        body_limit=settings.max_body_bytes,
        fallback=site,
        rewrite=None if settings.compat_aliases else reply_without_old,
    )


def about_api() -> About:
    """What the API description says beside the endpoints: the state and the events, which no single feature knows."""
    return About(
        title="Tertulia",
        version=__version__,
        description=ABOUT,
        replies={"register": catalogue_state.InitialState, "get_events": Events},
        unions={AnyEvent: EVENTS},
    )


def translate(error: Exception) -> Refusal | None:
    """What an engine's failure means to a caller."""
    if isinstance(error, (StreamUnavailable, nats.errors.Error)):
        return server_not_ready("The server cannot reach its event log right now. Please try again.")
    if isinstance(error, StoreUnavailable):
        return server_not_ready("The server cannot reach its files right now. Please try again.")
    return as_refusal(error)


def run_web(settings: Settings) -> None:
    """Serve the API until SIGTERM or SIGINT."""
    raise_open_files()
    with asyncio.Runner(loop_factory=_loop_factory()) as runner:
        runner.run(_serve(settings))


async def _serve(settings: Settings) -> None:
    async with open_app(settings) as (api, gateway):
        config = uvicorn.Config(
            api,
            host=settings.host,
            port=settings.port,
            http="httptools",
            ws="none",
            lifespan="off",
            log_config=None,
            access_log=False,
            server_header=False,
            backlog=4096,
            timeout_keep_alive=KEEP_ALIVE_SECONDS,
            timeout_graceful_shutdown=max(1, int(settings.drain_seconds)),
        )
        collect_garbage_seldom()
        log.info("web", host=settings.host, port=settings.port, version=__version__)
        await DrainingServer(config, gateway).serve()


class DrainingServer(uvicorn.Server):
    """Ends waiting polls first: uvicorn waits for them otherwise, and they for their heartbeat."""

    def __init__(self, config: uvicorn.Config, gateway: Gateway) -> None:
        super().__init__(config)
        self._gateway = gateway

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:  # noqa: ARG002
        """Remember the wish only: uvicorn would raise the signal again at the end, before our engines are closed."""
        self.should_exit = True

    async def shutdown(self, sockets: Any = None) -> None:
        """Stop listening, let polls and requests under way end, close."""
        self._gateway.drain()
        await super().shutdown(sockets)


async def _connect_nats(settings: Settings, came_back: list[Callable[[], None]]) -> Client:
    async def on_error(error: Exception) -> None:
        log.warning("NATS", error=repr(error))
        for tell in came_back:
            tell()  # a slow consumer lost events: look for what is missing

    async def on_reconnect() -> None:
        log.info("NATS is back")
        for tell in came_back:
            tell()

    return await nats.connect(
        settings.nats_url,
        name="tertulia web",
        max_reconnect_attempts=-1,
        reconnect_time_wait=0.25,
        ping_interval=5,
        max_outstanding_pings=2,
        error_cb=on_error,
        reconnected_cb=on_reconnect,
    )


async def _connect_database(settings: Settings) -> Database:
    return await Database.connect(settings.postgres_url, shards=settings.shards, size=settings.pool_size)


async def _patiently(engine: str, connect: Callable[[], Awaitable[Any]]) -> Any:
    """Engines may come up after us: try until they answer."""
    while True:
        try:
            return await asyncio.wait_for(connect(), 15)
        except (*LOST, nats.errors.Error, StreamUnavailable, TimeoutError, asyncpg.InvalidCatalogNameError) as error:
            log.warning("waiting for an engine", engine=engine, error=repr(error))
            await asyncio.sleep(0.5)


def _loop_factory() -> Callable[[], asyncio.AbstractEventLoop]:
    import uvloop

    return uvloop.new_event_loop
