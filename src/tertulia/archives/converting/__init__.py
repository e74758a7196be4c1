"""From other chats into the form of archives (docs/reference/archive.md): what all converters share, and one folder for each.

    reading a source   `zips` and `tars` open what somebody sent, within bounds, `streams` reads large JSON; `slack/`, `zulip/`,
                       `mattermost/`, `rocketchat/` and `discord/` know what is in it, `values` that it may be anything
    who and where      the operator decides who may do what (`accounts`); whom it knows is `known`, some in a
                       `roster`; conversations are `rooms`
    texts              a source's text becomes a tree (`tree`, by `dialects` if it is Markdown of sorts), and one writer makes our
                       Markdown of it (`markdown`)
    the shelf          messages lie on disk until all are known (`shelf`, by way of `composing`): then ids are given in the order
                       of time; `moments` knows the time of a message by its id there
    assembling         topics from threads, links to messages, and the archive itself (`topics`, `assembling`)
    the report         whatever does not come as it was is counted there, with examples (`report`)

A converter writes no database, and asks no network but for files, if the operator wants them (`fetching`). It holds no more
than people, conversations and topics in memory, and makes the same bytes of the same source: so an import that was stopped goes
on. One bad record is counted, never fatal.
"""
