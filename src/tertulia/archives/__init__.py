"""Exports of organizations, which this server does not make yet. Above all areas whose data they will contain."""
