"""Evaluation of beliefs after natural chat: playing scenarios, judging outcomes, figures."""
