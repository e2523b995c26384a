"""Exact leave-one-out predictions of the moment learners, from one fit."""
