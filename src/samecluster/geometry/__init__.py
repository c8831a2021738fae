"""Pure functions over arrays. Knows no questions, no files and no random state."""
