"""Evidence about runs: judges by hand-made answers, and the whole command against real stores."""
