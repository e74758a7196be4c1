"""Groups in groups: a web that is walked through once, however many groups or people are asked about."""
