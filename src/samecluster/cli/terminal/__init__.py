"""Talking with a person in a terminal: keys, prompts, pairs, lines."""
