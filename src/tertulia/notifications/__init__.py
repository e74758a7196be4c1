"""Notifications for people who are not active: Web Push."""
