"""The reach of known members: the linear programs behind it, and the checks that must be right."""
