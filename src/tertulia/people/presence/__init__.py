"""Presence: who is there, as far as they let it be known.

Clients ping about once a minute, and each wants to know of everybody else: what a ping costs must not grow with the
people of the realm. So:
- Pings of the same moment are written in one statement, and only what has become old is written at all.
- Changes are numbered per realm, in the order in which they are seen (`presence_clock`); a client asks for what came after
  the number it knows.
- A process keeps the presences of a realm in the order of their numbers, each as the text that is sent, and adds what is
  new with one small query. An answer is the end of that list, joined.
"""
