"""Sessions: answers that are never lost, asked twice or impossible to take back.

A session is a list of events that only grows. What is known is found by replaying it; undoing is
one more event. Files are touched by `storage` only, the clock is passed in; coordinates and cells
of the data are never written. `session` joins the parts: `event_log` writes, `known_labels` says
what follows, `question_queue` what to ask, `answer_desk`, `declarations` and `disagreement` take in
what people say.
"""
