"""The ground every feature stands on: settings, database, endpoints, errors. The kernel knows no feature."""
