"""Files: atomic snapshots, the journal, the storage lock, the layout, the decision logs."""
