"""The labelling page: a session behind a small web server, for one person or several.

`app` has the routes, `board` the session behind one thread, `openapi.json` what is sent and what is
answered. Starlette and uvicorn come with the extra ``samecluster[serve]``.
"""
