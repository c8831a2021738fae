"""The labelling page: a session behind a small web server, for one person or several.

`server` makes an open session listen, `app` has its routes, `operations` what can be asked of it,
each declared beside its handler; `session_thread` owns the session, `snapshot` and `views` are what
is shown of it, `links` and `security` say who may come in, and `static` is the page itself.
Starlette and uvicorn come with the extra ``samecluster[serve]``.
"""
