"""The memory itself, pure: records, lines and their charge, order, score, search. No I/O, no clock, no plugin."""
