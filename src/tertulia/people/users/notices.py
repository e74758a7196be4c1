"""What the notification bot tells the owner of a bot: that somebody may act and read as the bot who did not before."""

from tertulia.content.markup.writing import Bold, Mention, Part, Text
from tertulia.kernel.auth import Caller
from tertulia.kernel.db import Transaction
from tertulia.organization.notices import Notice, tell
from tertulia.people.users import queries
from tertulia.people.users.model import Account

BY_OWNER = "with your account"
BY_ITSELF = "by the bot itself, with a key that it had"
BY_OPERATOR = "by the operator of the server"


async def tell_owner(tx: Transaction, realm_id: int, bot_id: int, by: str) -> None:
    """Tell the owner of a bot that it has a new API key, and how that was made."""
    bot = await queries.find_account(tx, bot_id)
    owner = await queries.find_account(tx, bot.bot_owner_id) if bot else None
    if bot is None or owner is None or not owner.is_active:
        return
    text: Text = (
        "A new API key of your bot ",
        Mention(bot.id, bot.full_name),
        " was made ",
        by,
        ". Whoever has the key acts and reads as the bot. If you did not expect this, ",
        "regenerate the bot's key in the settings: all others end with that.",
    )
    await tell(tx, realm_id, [Notice(text, user_id=owner.id)])


async def tell_former_owner(tx: Transaction, caller: Caller, bot: Account, old: Account | None, new: Account) -> None:
    """Tell somebody whose bot was given away by another person."""
    if old is None or old.id == caller.user_id or not old.is_active:
        return
    text: Text = (
        Mention(caller.user_id, caller.full_name),
        " gave your bot ",
        Mention(bot.id, bot.full_name),
        " to ",
        Mention(new.id, new.full_name),
        ". Its API keys have ended, and it has kept nothing that its new owner could not read. ",
        "The files that it had uploaded are yours now.",
    )
    await tell(tx, caller.realm_id, [Notice(text, user_id=old.id)])


async def tell_new_owner(tx: Transaction, caller: Caller, bot: Account, new: Account, url: str | None) -> None:
    """Tell somebody whom another person gave a bot. `url`: where it sends what it hears, if that is what it is for."""
    if new.id == caller.user_id:
        return
    text: list[Part] = [
        Mention(caller.user_id, caller.full_name),
        " gave you the bot ",
        Mention(bot.id, bot.full_name),
        ": it is shown as yours from now on. Its API keys have ended. If you do not want it, deactivate it in the settings.",
    ]
    if url:
        text += [" What it hears it sends to ", Bold(url), ": look whether that is right."]
    elif url is not None:
        text.append(" It sends what it hears nowhere, until you say in the settings where to.")
    await tell(tx, caller.realm_id, [Notice(tuple(text), user_id=new.id)])
