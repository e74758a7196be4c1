"""Previews of links: what the pages that messages link say of themselves, fetched by the worker after the send.

Invariants: nobody but the worker asks for a page, never at the send and never because somebody reads, and once for each address
and organization, however many messages link it, as long as what is known of it is fresh; what a page says is text; its picture
is fetched and shown as any picture from elsewhere (files/remote_pictures). A message waits for its previews in a row for each,
written with its text; an edit replaces the rows with the text, so what is fetched for an old text is never shown below a new
one. What is shown stands in the message's HTML and nowhere else (content/markup/embeds.py), put there by
messaging/editing/previews if the organization still wants it at that moment.
"""
