"""Access to the running stack. Nothing here judges: it fetches, and says why it could not."""
