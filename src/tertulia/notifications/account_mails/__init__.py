"""Mails about somebody's account: welcome, and that it was deactivated."""
