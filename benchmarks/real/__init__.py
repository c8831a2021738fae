"""Real sets, nothing declared: error after so many questions, and what is said about it."""
