"""Restore points against the real programs."""
