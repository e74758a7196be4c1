"""Uploads that can be resumed: tus 1.0 (core, creation, termination, expiration), at /api/v1/tus.

What has arrived is kept in parts, each an object of the store, whatever then happens to the connection or to the server: on
a disk and in a bucket alike. The last part is written down together with the whole file, so an upload of which everything
has arrived is a file, and nothing in between.
"""
