"""What can be asked of the server, each operation declared beside its handler.

`answer`, `read`, `decide` and `files` have the handlers; `declared` and `schema` are what
declarations are made of, and `document` makes the OpenAPI document from them.
"""
