"""The complete test: a semidefinite solver and the certificates that its answers must carry."""
