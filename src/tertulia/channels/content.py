"""Who may read what is said in a channel, as a condition inside a statement: the one wording of it in SQL.

Content access: the channel is web-public, or the user is subscribed, or is no guest and the channel is public or lets them
subscribe themselves or others. Being an administrator gives none. With protected history it opens only what the user
received, which the statement asks beside it (`seq <@ history`).
"""


def reads_content(channel: str = "channel", account: str = "account", subscription: str = "subscription") -> str:
    """The condition on rows of these names; `subscription` is the user's own row in the channel, or nulls; so is
    `account` of somebody without one."""
    return f"""
    case when coalesce({subscription}.is_active, false) or {channel}.is_web_public then true
        when coalesce({account}.role, 600) >= 600 then false
        when not {channel}.invite_only then true
        else is_group_member({account}.id, {channel}.can_subscribe_group)
            or is_group_member({account}.id, {channel}.can_add_subscribers_group) end
    """
