"""People and bots: accounts, how they log in, profiles, preferences, statuses and presence."""
