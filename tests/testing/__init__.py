"""The suites for what others bring accept what is ours, and refuse what is broken."""
