"""A model as one page that anybody can open: what it learned, from what, and how good it is."""
