"""What is asked and what follows from the answers.

Pure bookkeeping over item numbers: no arrays, no files, no clock. Standard library only.
"""
