"""From files, folders and frames to a table: formats, encodings, dialects, samples."""
