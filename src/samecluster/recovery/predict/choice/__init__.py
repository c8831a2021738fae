"""What prediction chooses by its model: the next point to ask about, and the kind of similarity."""
