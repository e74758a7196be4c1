"""Realms: the organizations. A realm is found by the host a request names; everything else belongs to one realm."""
