"""The numbers of the memory in one place: caps on entries, budgets, weights, thresholds."""

from __future__ import annotations

from typing import Final

# Entries
GIST_SOFT_CHARACTERS: Final = 300
GIST_MAX_CHARACTERS: Final = 1_000
NOTE_MAX_CHARACTERS: Final = 4_000
NOTES_MAX: Final = 100
TOUCHES_MAX: Final = 100
TOUCH_MAX_CHARACTERS: Final = 1_000
ENDPOINT_MAX_CHARACTERS: Final = 255
ID_MAX_WORDS: Final = 6

# Size of a rendered level, in code points
LEVEL_BUDGET: Final = 22_000
READ_BUDGET: Final = 50_000
FILL_CEILING: Final = 0.8
ARCHIVED_SHARE: Final = 0.30
FRESH_SHARE: Final = 0.30

# Score
RECENCY_WEIGHT: Final = 0.25
CONNECTEDNESS_WEIGHT: Final = 0.40
USEFULNESS_WEIGHT: Final = 0.35
IN_WEIGHT: Final = 0.66
OUT_WEIGHT: Final = 0.33
ARCHIVED_NEIGHBOUR_WEIGHT: Final = 0.2
HUB_FLOOR: Final = 0.5
USEFULNESS_HALF_LIFE_S: Final = 90 * 86_400.0

SWAP_MARGIN: Final = 0.05
REBALANCE_SWAPS: Final = 3
ORPHAN_GRACE_DAYS: Final = 365

# Credits
LIKES_GUIDE: Final = 5
LIKES_MAX: Final = 10
PASS_CREDITS: Final = 15
STAMPS_KEPT: Final = 100

# Search and recall
SEARCH_CHARACTERS: Final = 10_000
SEARCH_FULL_HITS: Final = 5
SEARCH_LINE_HITS: Final = 10
RECALL_HITS: Final = 4
RECALL_CHARACTERS: Final = 2_500
PUSH_NODES: Final = 3
PUSH_GIST_CHARACTERS: Final = 300
TYPED_MIN_COLUMNS: Final = 8
PROMPT_TERMS_MAX: Final = 24
GIST_CHANGES_KEPT: Final = 8
TOMBSTONE_DAYS: Final = 30

# Sessions, in seconds
SESSION_TTL_S: Final = 86_400.0
SESSION_KEPT_S: Final = 30 * 86_400.0
