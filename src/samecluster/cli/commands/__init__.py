"""The commands, one module each; heavy imports stay inside the functions."""
