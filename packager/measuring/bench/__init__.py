"""Times models on runners: rounds, statistics, the table, the document and the page."""
