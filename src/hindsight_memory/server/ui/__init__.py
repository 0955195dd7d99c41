"""The page: what is remembered, to look at."""
