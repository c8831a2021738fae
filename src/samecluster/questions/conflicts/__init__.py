"""Answers that cannot all be right: who contradicts whom, and what to ask, keep or retract."""
