"""Event queues: one client's cursor in the log, and the web process that serves it.

Invariants:
- Delivered or dead: each event of a queue's filter is delivered once and in order, or the queue says that it is dead.
- In the state or in the events: a change is in what the registration read or in the queue's events, never in both or neither.
- A queue lives in one process at a time, and any process can take it over.
- An event is decoded once per process, and written once for all listeners who get the same text.

Read `gateway.py` first: it registers queues, finds them and ends them. On the way of an event: `feeds.py` (the realms somebody
listens to), `feed.py` (one realm's log, without holes), `tail.py` (its recent events), `listeners.py` (who hears one),
`queue.py` and `memberships.py` (one listener), `polls.py` and `waiters.py` (the requests that wait). On the way of a queue:
`served.py` (those that live here), `takeover.py` with `arrivals.py` (from one process to another), `queue_record.py` and
`options.py` (what they are made of). What features bring: presenters (`logged_event.py`), filters (`filters.py`), and parts
of the state (`initial_state.py`).
"""
