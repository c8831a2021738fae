"""What `recover` does around a method: a margin is searched, a budget kept, answers repaired."""
