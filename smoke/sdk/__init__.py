"""Runs SDKs against a stack: an environment per pinned version, scenarios, and a matrix of what each must do."""
