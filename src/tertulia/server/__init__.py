"""What is assembled at start: the application and the worker, from the one list of features."""
