"""The write path: what happens to a draft."""
