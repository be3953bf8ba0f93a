"""Judgement: pure functions from what was fetched and what was promised to a list of problems. No input or output."""
