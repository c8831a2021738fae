"""The command line: a thin shell. Nothing heavy is imported before a command runs."""
