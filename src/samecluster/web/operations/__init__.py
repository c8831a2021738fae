"""What the page can ask of the server: answering, reading, deciding."""
