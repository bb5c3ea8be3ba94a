"""From a request to a file and a report: one page, the whole story.

Contract for the front ends (the body is being written):
"""
