"""Imports: an archive becomes an organization of this server, which nobody sees until it is whole.

The archive is read from its first byte to its last before the first row is written. Rows go in by COPY, in batches; each
commits together with how far it has come, so whoever begins again goes on there. All HTML is made here, from the texts.
"""
