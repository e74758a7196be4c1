"""The composition root: features and their services -> ASGI application. No feature is named here: features.py has the list.

Three things are made of all features together, and so are declared here: who presents events (`Polls`), the state of
POST /register (`InitialState`), and the API description.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import nats.errors

from tertulia import __version__
from tertulia.content.storage import Store, StoreUnavailable
from tertulia.content.webclient.files import BuiltFiles
from tertulia.content.webclient.serving import WebClient
from tertulia.events.feature import Feature, made
from tertulia.events.log.jetstream import StreamUnavailable
from tertulia.events.queues.filters import Filter
from tertulia.events.queues.gateway import Gateway
from tertulia.events.queues.initial_state import InitialState
from tertulia.events.queues.logged_event import Presenter
from tertulia.events.queues.polls import Polls
from tertulia.kernel.admission import Admission
from tertulia.kernel.bounds import Bound, Bounds
from tertulia.kernel.compat import reply_without_old
from tertulia.kernel.db import Database, Reader, Transaction
from tertulia.kernel.docs_page import documentation
from tertulia.kernel.endpoint import Endpoint, collect
from tertulia.kernel.engine_failures import as_refusal
from tertulia.kernel.errors import Refusal, server_not_ready
from tertulia.kernel.http import Api, BodyLimits, Observe
from tertulia.kernel.limits import RateLimits
from tertulia.kernel.openapi import About
from tertulia.kernel.request_log import request_log_of
from tertulia.kernel.services import Hooks, Service, Services
from tertulia.kernel.settings import Settings
from tertulia.organization.realms.freezing import freeze_hook
from tertulia.people.avatars.serving import AvatarFinder
from tertulia.people.logins.keys import KeyUse
from tertulia.people.users.authentication.actions import KeyAuthenticator
from tertulia.server.catalogue import AnyEvent, Events, events_of, initial_state_of
from tertulia.server.gallery import Gallery
from tertulia.server.installing import Installing
from tertulia.server.site import Site

ABOUT = "Parameters are form fields or query parameters; lists and objects are JSON. Log in with HTTP Basic: email, API key."


def services_of(features: Sequence[Feature], given: Mapping[type, Any]) -> Services:
    """What the features make out of what the process gives, and what is made of all of them."""

    def polls(services: Services) -> Polls:
        return Polls(services[Gateway], presenters_of(features, services))

    def initial_state(services: Services) -> InitialState:
        parts = [made(part, services) for feature in features for part in feature.state]
        return InitialState(parts, services[Settings])

    declared = [service for feature in features for service in feature.services]
    hooks = Hooks(feature.hooks for feature in features)
    return Services({**given, Hooks: hooks}, [*declared, Service(Polls, polls), Service(InitialState, initial_state)])


def bounds_of(settings: Settings, features: Sequence[Feature]) -> Bounds:
    """The bounds that the operator has changed."""
    return Bounds.of(settings, [one for feature in features for one in feature.bounds if isinstance(one, Bound)])


def presenters_of(features: Sequence[Feature], services: Services) -> dict[str, Presenter]:
    """By type of event: how the features show them."""
    return {type: made(one, services) for feature in features for type, one in feature.presenters.items()}


def filters_of(features: Sequence[Feature]) -> dict[str, Filter]:
    """By type of event: how the features understand the narrow of a queue."""
    return {type: one for feature in features for type, one in feature.filters.items()}


def endpoints_of(features: Sequence[Feature]) -> list[Endpoint]:
    """All endpoints, in the order of the features."""
    return collect(*(module for feature in features for module in feature.routes))


def build_api(features: Sequence[Feature], services: Services, observe: Observe | None = None) -> Api:
    """Tie the features' endpoints to their services; Database, Gateway, RateLimits and Settings are given by the process."""
    settings, database = services[Settings], services[Database]
    for feature in features:
        for name, follow_up in feature.follow_ups.items():
            database.after_commit[name] = follow_up(services)
    endpoints = endpoints_of(features)
    authenticator = KeyAuthenticator(database, settings, services[KeyUse].note)
    admission = Admission(
        authenticator,
        services[RateLimits] if settings.rate_limits else None,
        at_once=settings.requests_at_once if settings.rate_limits else 0,
        files_at_once=settings.files_at_once if settings.rate_limits else 0,
        arriving_bytes=settings.max_arriving_bytes,
    )
    avatars = AvatarFinder(database, admission, settings)
    gallery = Gallery(database, services[Store], avatars, admission)
    installing = Installing(database, services[Store], admission, settings)
    site = Site(WebClient(services[BuiltFiles]), gallery, installing)
    return Api(
        [*endpoints, *documentation(endpoints, about_api(features))],
        services=services.all(),
        scopes={Transaction: database.transaction, Reader: database.reader},
        admission=admission,
        translate=translate,
        observe=observe,
        external_host=settings.external_host,
        body_limits=BodyLimits(settings.max_body_bytes, settings.max_anonymous_body_bytes),
        fallback=site,
        rewrite=None if settings.compat_aliases else reply_without_old,
        request_log=request_log_of(settings),
        is_frozen=freeze_hook(database),
        refusals={beginning: refuse for feature in features for beginning, refuse in feature.refusals.items()},
    )


def about_api(features: Sequence[Feature]) -> About:
    """What the API description says beside the endpoints: the state and the events, which no single feature knows."""
    return About(
        title="Tertulia",
        version=__version__,
        description=ABOUT,
        replies={"register": initial_state_of(features), "get_events": Events},
        unions={AnyEvent: events_of(features)},
    )


def translate(error: Exception) -> Refusal | None:
    """What an engine's failure means to a caller."""
    if isinstance(error, (StreamUnavailable, nats.errors.Error)):
        return server_not_ready("The server cannot reach its event log right now. Please try again.")
    if isinstance(error, StoreUnavailable):
        return server_not_ready("The server cannot reach its files right now. Please try again.")
    return as_refusal(error)
