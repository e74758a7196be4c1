"""Public pages: what is said in web-public channels, as plain pages for whoever has no account, and for machines that read.

They are made on the server and work without scripts: an organization's channels, the topics of one, the messages of a topic;
beside them feeds, a sitemap, robots.txt and llms.txt.

Invariants:
- A page is made of what the server, the organization and the channel let anybody read; whatever else is asked for is answered
  like an address that was never there.
- Of people a page has the name and the picture that stand beside what they wrote, and no number that leads on.
- An answer was read from the database at most `FRESH_SECONDS` before it was asked for (cache.py), by everybody.
- Whatever people wrote is escaped where it is put into a page (templates.py); messages were made safe by the markup.
"""
