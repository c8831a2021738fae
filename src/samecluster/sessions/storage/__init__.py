"""Where events are kept: the append-only log, its SQLite file, its lock."""
