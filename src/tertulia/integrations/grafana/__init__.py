"""Alerts of Grafana."""
