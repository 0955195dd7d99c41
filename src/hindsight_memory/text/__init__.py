"""What can be read off a text, in English and Chinese."""
