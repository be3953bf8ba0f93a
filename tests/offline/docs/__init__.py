"""The documentation is executed: commands run, names exist, links resolve, generated pages are fresh."""
