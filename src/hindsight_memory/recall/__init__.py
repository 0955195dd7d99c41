"""The read path: what happens to a query."""
