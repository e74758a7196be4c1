"""Playgrounds: places on the web where code of a language can be tried; clients offer them beside blocks of code.

Invariant: whoever changes them holds the realm, so that the list in the last event is the list in the database.
"""
