"""Pictures from elsewhere that messages show: fetched once by the worker after the send, kept in the store, shown from here.

Invariants: only the worker asks other servers, once for each address and organization however many messages name it, and
never because somebody reads; what is kept is our own thumbnail, never what was sent to us; a picture that no message shows
any more is deleted within about a day; the pictures of an organization take no more than `remote_pictures_mib`.

Who holds the signed address may have the picture (content/markup/remote.py, server/gallery.py): it cannot be guessed, and it
stands only in messages. Messages keep the pictures of their earlier texts, which the history of edits shows.
"""
