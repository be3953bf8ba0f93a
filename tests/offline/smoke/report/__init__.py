"""The report: boards that are drawn, the page that a browser opens, the summary for a ticket."""
