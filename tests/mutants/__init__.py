"""Deliberate faults in a copy of the source, and a script that sees whether the tests notice."""
