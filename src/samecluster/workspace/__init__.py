"""A session together with its data: what the shells (terminal, page) have in common.

From files and options to an open session, what is shown of a pair, what can be done next, and the
files that a session ends in. Nothing here talks to a person or to a network.
"""
