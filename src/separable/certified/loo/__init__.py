"""Leave-one-out predictions of the certified learners, from one fit."""
