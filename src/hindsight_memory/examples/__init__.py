"""Sample conversations with questions and the turns that answer them, in English and Chinese."""
