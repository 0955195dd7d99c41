"""Judgement where there is a language model; without one, or when it fails, rules decide and nothing is lost."""
