"""Model files: written atomically, checked on loading."""
