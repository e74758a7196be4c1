"""Alerts of Prometheus' Alertmanager."""
