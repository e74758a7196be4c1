"""Personal settings (protocol/people.md#settings)."""

import httpx
import pytest

from tests.harness.talk import Json, Queue, Speaker, check_error, check_success, unique

# register-and-events.md 6, as it is written there.
TRUE = [
    "web_escape_navigates_to_home_view",
    "display_emoji_reaction_users",
    "starred_message_counts",
    "web_suggest_update_timezone",
    "web_left_sidebar_show_channel_folders",
    "web_left_sidebar_unreads_count_summary",
    "web_inbox_show_channel_folders",
    "web_navigate_to_sent_message",
    "wildcard_mentions_notify",
    "enable_followed_topic_desktop_notifications",
    "enable_followed_topic_email_notifications",
    "enable_followed_topic_push_notifications",
    "enable_followed_topic_audible_notifications",
    "enable_followed_topic_wildcard_mentions_notify",
    "enable_desktop_notifications",
    "pm_content_in_desktop_notifications",
    "enable_sounds",
    "enable_offline_email_notifications",
    "message_content_in_email_notifications",
    "enable_offline_push_notifications",
    "enable_online_push_notifications",
    "enable_digest_emails",
    "enable_login_emails",
    "enable_marketing_emails",
    "presence_enabled",
    "automatically_follow_topics_where_mentioned",
    "enable_drafts_synchronization",
    "send_stream_typing_notifications",
    "send_private_typing_notifications",
    "send_read_receipts",
    "receives_typing_notifications",
]
FALSE = [
    "enter_sends",
    "left_side_userlist",
    "fluid_layout_width",
    "high_contrast_mode",
    "translate_emoticons",
    "twenty_four_hour_time",
    "enable_stream_desktop_notifications",
    "enable_stream_email_notifications",
    "enable_stream_push_notifications",
    "enable_stream_audible_notifications",
    "allow_private_data_export",
    "hide_ai_features",
]
NUMBERS = {
    "color_scheme": 1,
    "web_font_size_px": 16,
    "web_line_height_percent": 140,
    "demote_inactive_streams": 1,
    "web_mark_read_on_scroll_policy": 1,
    "web_channel_default_view": 1,
    "user_list_style": 3,
    "web_stream_unreads_count_display_policy": 2,
    "email_notifications_batching_period_seconds": 120,
    "desktop_icon_count_display": 1,
    "realm_name_in_email_notifications_policy": 1,
    "automatically_follow_topics_policy": 3,
    "automatically_unmute_topics_in_muted_streams_policy": 2,
    "email_address_visibility": 1,
}
TEXTS = {
    "default_language": "en",
    "web_home_view": "inbox",
    "web_animate_image_previews": "on_hover",
    "emojiset": "google",
    "resolved_topic_notice_auto_read_policy": "except_followed",
}
DEFAULTS: Json = dict.fromkeys(TRUE, True) | dict.fromkeys(FALSE, False) | NUMBERS | TEXTS
QUIET: Json = {
    "notifications_paused_until": 0,
    "quiet_hours_days": 127,
    "quiet_hours_enabled": False,
    "quiet_hours_end": 420,
    "quiet_hours_start": 1320,
}
EXTRA = {"notification_sound", "emojiset_choices", "available_notification_sounds", *QUIET}


def state(speaker: Speaker, *types: str) -> Json:
    found = speaker.post("register", event_types=[], fetch_event_types=list(types))
    speaker.delete("events", queue_id=found["queue_id"])
    return found


def settings_of(speaker: Speaker) -> Json:
    settings: Json = state(speaker, "user_settings")["user_settings"]
    return settings


def change(speaker: Speaker, **fields: object) -> Json:
    return check_success(speaker.request("PATCH", "settings", **fields))


@pytest.mark.holds("settings.defaults")
def test_a_new_user_has_all_settings_with_their_defaults(newcomer: Speaker) -> None:
    found = settings_of(newcomer)
    assert {name: found[name] for name in DEFAULTS} == DEFAULTS
    assert found.keys() == DEFAULTS.keys() | EXTRA | {"timezone"}
    assert found["timezone"] == ""
    assert found["notification_sound"] in found["available_notification_sounds"]
    assert found["emojiset"] in {choice["key"] for choice in found["emojiset_choices"]}
    assert all(choice.keys() == {"key", "text"} for choice in found["emojiset_choices"])


@pytest.mark.holds("settings.defaults")
def test_the_defaults_of_the_organization_are_those_of_a_new_user_without_a_time_zone(newcomer: Speaker) -> None:
    found = state(newcomer, "realm_user_settings_defaults", "user_settings")
    assert found["realm_user_settings_defaults"] | {"timezone": ""} == found["user_settings"]


@pytest.mark.holds("settings.only-passed")
def test_only_what_is_passed_changes_and_the_answer_is_empty(newcomer: Speaker) -> None:
    before = settings_of(newcomer)
    wanted: Json = {
        "twenty_four_hour_time": True,
        "color_scheme": 2,
        "web_home_view": "all_messages",
        "emojiset": "text",
    }
    assert change(newcomer, **wanted) == {"result": "success", "msg": ""}
    assert settings_of(newcomer) == before | wanted
    change(newcomer, color_scheme=1, timezone="Europe/Lisbon")
    assert settings_of(newcomer) == before | wanted | {"color_scheme": 1, "timezone": "Europe/Lisbon"}
    assert newcomer.get("users/me")["timezone"] == "Europe/Lisbon"
    change(newcomer, timezone="", **{name: before[name] for name in wanted})
    assert settings_of(newcomer) == before


@pytest.mark.holds("settings.quiet")
def test_quiet_hours_and_a_pause_are_settings_that_ones_clients_hear_of(newcomer: Speaker) -> None:
    found = settings_of(newcomer)
    assert {name: found[name] for name in QUIET} == QUIET
    queue = Queue(newcomer, event_types=["user_settings"])
    wanted: Json = {
        "quiet_hours_enabled": True,
        "quiet_hours_days": 31,
        "quiet_hours_start": 0,
        "quiet_hours_end": 1439,
    }
    change(newcomer, notifications_paused_until=2_000_000_000, **wanted)
    heard: Json = {}
    while len(heard) < 5:
        heard |= {event["property"]: event["value"] for event in queue.poll()}
    assert heard == wanted | {"notifications_paused_until": 2_000_000_000}
    for name, value in {"quiet_hours_days": 128, "quiet_hours_start": 1440, "notifications_paused_until": -1}.items():
        check_error(newcomer.request("PATCH", "settings", **{name: value}))
    change(newcomer, **QUIET)


@pytest.mark.holds("settings.only-passed")
def test_every_switch_can_be_turned(newcomer: Speaker) -> None:
    turned = {name: not DEFAULTS[name] for name in TRUE + FALSE}
    assert "ignored_parameters_unsupported" not in change(newcomer, **turned)
    found = settings_of(newcomer)
    assert {name: found[name] for name in turned} == turned


@pytest.mark.holds("settings.older")
@pytest.mark.parametrize("path", ["settings/display", "settings/notifications"])
def test_older_addresses_do_the_same(newcomer: Speaker, path: str) -> None:
    check_success(newcomer.request("PATCH", path, enter_sends=True))
    assert settings_of(newcomer)["enter_sends"] is True


@pytest.mark.holds("settings.only-passed", "conventions.ignored-parameters")
def test_unknown_settings_are_named_in_the_answer(newcomer: Speaker) -> None:
    reply = change(newcomer, enter_sends=True, no_such_setting=1, another="x")
    assert reply["ignored_parameters_unsupported"] == ["another", "no_such_setting"]
    assert settings_of(newcomer)["enter_sends"] is True


@pytest.mark.holds("settings.refused")
@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("color_scheme", 4),
        ("color_scheme", 0),
        ("color_scheme", "dark"),
        ("enter_sends", 1),
        ("enter_sends", "yes"),
        ("web_home_view", "nowhere"),
        ("emojiset", "apples"),
        ("email_address_visibility", 6),
        ("email_notifications_batching_period_seconds", 0),
        ("email_notifications_batching_period_seconds", 604801),
        ("automatically_follow_topics_policy", 5),
        ("default_language", "klingon"),
        ("notification_sound", "thunder"),
        ("timezone", "Europe/Atlantis"),
        ("timezone", "../../etc/passwd"),
        ("web_font_size_px", 1000),
    ],
)
def test_values_out_of_range_are_refused_and_nothing_changes(newcomer: Speaker, name: str, value: object) -> None:
    before = settings_of(newcomer)
    msg = check_error(newcomer.request("PATCH", "settings", high_contrast_mode=True, **{name: value}))
    assert name.replace("_", " ") in msg.replace("_", " ")
    assert settings_of(newcomer) == before


@pytest.mark.holds("settings.name")
def test_the_name_changes_for_everybody(newcomer: Speaker, member: Speaker) -> None:
    change(newcomer, full_name="  Ada Newcomer ")
    assert member.get(f"users/{newcomer.id}")["user"]["full_name"] == "Ada Newcomer"
    change(newcomer, full_name=" ")
    assert newcomer.get("users/me")["full_name"] == "Ada Newcomer"
    for wrong in ("Ada*", "x" * 101, "Ada|12"):
        check_error(newcomer.request("PATCH", "settings", full_name=wrong))


@pytest.mark.holds("settings.password")
def test_a_new_password_needs_the_old_one(newcomer: Speaker, nobody: Speaker) -> None:
    old, new = newcomer.user.password, unique("Another secret")
    assert old is not None
    check_error(newcomer.request("PATCH", "settings", new_password=new))
    assert (
        check_error(newcomer.request("PATCH", "settings", old_password="wrong", new_password=new)) == "Wrong password!"
    )
    check_error(newcomer.request("PATCH", "settings", old_password=old, new_password="password"))
    change(newcomer, old_password=old, new_password=new, enter_sends=True)
    login = {"username": newcomer.email, "password": new}
    fresh = nobody.post("fetch_api_key", **login)
    assert fresh["user_id"] == newcomer.id
    newcomer.http.auth = httpx.BasicAuth(newcomer.email, fresh["api_key"])  # the old key was got by the old password
    check_error(nobody.request("POST", "fetch_api_key", **login | {"password": old}), "AUTHENTICATION_FAILED", 401)
    assert settings_of(newcomer)["enter_sends"] is True


@pytest.mark.holds("settings.password", "settings.refused")
def test_a_wrong_value_keeps_the_password(newcomer: Speaker, nobody: Speaker) -> None:
    old, new = newcomer.user.password, unique("Another secret")
    wrong = {"old_password": old, "new_password": new, "default_language": "klingon"}
    check_error(newcomer.request("PATCH", "settings", **wrong))
    nobody.post("fetch_api_key", username=newcomer.email, password=old)


@pytest.mark.holds("settings.who")
def test_bots_have_no_settings_to_change(bot: Speaker) -> None:
    check_error(bot.request("PATCH", "settings", enter_sends=True))
    assert settings_of(bot)["enter_sends"] is False


@pytest.mark.holds("settings.who")
def test_guests_change_their_settings(guest: Speaker) -> None:
    change(guest, enter_sends=True)
    assert settings_of(guest)["enter_sends"] is True
    change(guest, enter_sends=False)


@pytest.mark.holds("settings.who")
def test_nobody_has_no_settings(nobody: Speaker) -> None:
    check_error(nobody.request("PATCH", "settings", enter_sends=True), "UNAUTHORIZED", 401)


@pytest.mark.holds("settings.older")
def test_older_clients_find_settings_at_the_top(newcomer: Speaker) -> None:
    change(newcomer, twenty_four_hour_time=True, pm_content_in_desktop_notifications=False)
    found = state(newcomer, "update_display_settings", "update_global_notifications")
    assert (found["twenty_four_hour_time"], found["pm_content_in_desktop_notifications"]) == (True, False)
    assert "twenty_four_hour_time" not in state(newcomer, "user_settings")
    everything = newcomer.post("register")
    assert "twenty_four_hour_time" in everything["user_settings"]
    assert "twenty_four_hour_time" not in everything
    newcomer.delete("events", queue_id=everything["queue_id"])
