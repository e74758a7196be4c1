"""What the notification bot tells the owner of a bot: that somebody may act and read as the bot who did not before."""

from tertulia.content.markup.writing import Bold, Mention, worded
from tertulia.kernel.auth import Caller
from tertulia.kernel.db import Transaction
from tertulia.organization.notices import Notice, tell
from tertulia.organization.notices.queries import language_of
from tertulia.people.users import queries
from tertulia.people.users.model import Account
from tertulia.people.users.words import By, words_of


async def tell_owner(tx: Transaction, realm_id: int, bot_id: int, by: By) -> None:
    """Tell the owner of a bot that it has a new API key, and how that was made."""
    bot = await queries.find_account(tx, bot_id)
    owner = await queries.find_account(tx, bot.bot_owner_id) if bot else None
    if bot is None or owner is None or not owner.is_active:
        return
    words = words_of(await language_of(tx, owner.id))
    text = worded(words.new_key[by], bot=Mention(bot.id, bot.full_name))
    await tell(tx, realm_id, [Notice(text, user_id=owner.id)])


async def tell_former_owner(tx: Transaction, caller: Caller, bot: Account, old: Account | None, new: Account) -> None:
    """Tell somebody whose bot was given away by another person."""
    if old is None or old.id == caller.user_id or not old.is_active:
        return
    words = words_of(await language_of(tx, old.id))
    who, owner = Mention(caller.user_id, caller.full_name), Mention(new.id, new.full_name)
    text = worded(words.given_away, who=who, bot=Mention(bot.id, bot.full_name), owner=owner)
    await tell(tx, caller.realm_id, [Notice(text, user_id=old.id)])


async def tell_new_owner(tx: Transaction, caller: Caller, bot: Account, new: Account, url: str | None) -> None:
    """Tell somebody whom another person gave a bot. `url`: where it sends what it hears, if that is what it is for."""
    if new.id == caller.user_id:
        return
    words = words_of(await language_of(tx, new.id))
    who = Mention(caller.user_id, caller.full_name)
    text = worded(words.given, who=who, bot=Mention(bot.id, bot.full_name))
    if url:
        text = (*text, *worded(words.sends_to, url=Bold(url)))
    elif url is not None:
        text = (*text, words.sends_nowhere)
    await tell(tx, caller.realm_id, [Notice(text, user_id=new.id)])
