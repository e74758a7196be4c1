"""Mail about missed messages, for people who were not looking.

Invariants: whom a message concerns is decided elsewhere (notifications/concerns), and decided again when the mail is made: what
was read, deleted, muted or got out of reach meanwhile is not in it, and if nothing is left there is no mail. One mail is about
one conversation, so that a mail program shows it as one thread. A batch becomes mails of the outbox in the transaction that
deletes it. Content is in a mail only if the organization and the reader both allow it. The link that ends these mails needs
no login, does nothing but that, and nothing when it is merely fetched.
"""
