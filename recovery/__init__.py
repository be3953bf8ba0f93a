"""Restore points: taken from live stores, kept where their writer cannot destroy them, restored and compared."""
