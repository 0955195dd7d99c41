"""What may come in, and how far to believe it."""
