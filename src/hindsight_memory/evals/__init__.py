"""Measures how well memory finds what it was given: retrieval, abstention, speed, and what an answer can stand on."""
