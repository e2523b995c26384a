"""The one model every learner ends in."""
