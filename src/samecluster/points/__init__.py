"""Where the data lives: checked once here, trusted below."""
