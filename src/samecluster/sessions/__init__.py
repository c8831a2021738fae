"""Sessions: answers that are never lost, asked twice or impossible to take back.

A session is a list of events that only grows. What is known is found by replaying it; undoing is
one more event. Files and clocks are touched in this room, by the stores and by whoever passes a
clock; coordinates and cells of the data are never written.
"""
