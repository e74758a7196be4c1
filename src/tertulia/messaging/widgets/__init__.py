"""Widgets: polls and to-do lists inside a message.

A widget is opened by the text of its message (`/poll`, `/todo`; content/markup/widgets.py) and is nothing but the row of its
submessages: the first says what it is, each later one what somebody did. Clients add them up; the server checks that each
makes sense by itself.
"""
