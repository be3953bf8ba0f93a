"""The commands behind the Makefile: they join the sandbox, the engine and smoke, and hold no knowledge of their own."""
