"""The checks. Each fetches, lets a pure function judge, and returns what it saw."""
