"""What every feature is built on: settings, database, endpoints, errors. The kernel knows no feature."""
