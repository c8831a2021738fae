"""samecluster beside other tools, on the same instances and with the same counted questions.

``make bench-peers`` makes an environment with the other tools, runs every tool on every instance in
a process of its own (`one_run`), and writes `results.md` (`__main__`). Only public names of
samecluster are used here.
"""
