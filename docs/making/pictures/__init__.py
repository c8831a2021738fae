"""The pictures of the documentation, one module each, drawn from real runs.

``make docs-pictures`` draws them anew into docs/pictures.
"""
