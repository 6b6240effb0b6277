"""kg replay: recorded prompts put to the gates again with other parameters, judged by what was of use later.

A log holds a prompt's search words, not its text. They are searched for in the memory as it is now (lessons written
after the prompt left out), as the first that the session is told; a lesson counts once a session. Told is right when
the same session used the lesson afterwards.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from kg_server.graph.directives import only_directive
from kg_server.graph.gates import GATES, Gates, candidates, passing
from kg_server.graph.graph import Graph
from kg_server.graph.likeness import runs
from kg_server.graph.query import Query, Term
from kg_server.graph.search import Found
from kg_server.graph.versions import entry_key, tombstones
from kg_server.service.decisions import Asked, Lesson, Use

VALUES: Mapping[str, Sequence[Any]] = {
    "score_min": (0.4, 0.6, 1.0, 1.2, 1.5),
    "several_terms_more": (0.0, 0.4),
    "unknown_terms_more": (0.0, 1.0),
    "matched_weight": (0.0, 0.3),
    "nearly_unique": (0.6, 1.1),
    "relative_cut": (0.7, 0.95),
    "other_part_cut": (0.5, 1.0),
    "hits": (2, 8),
}
"""What is tried, one parameter at a time."""
RECORDED, AS_IT_IS = "recorded", "as it is"
RENAMES = 20

GraphsOf = Callable[[str], Sequence[Graph] | None]
"""The graphs of a session of that project (empty: none), or None when there is no memory of it any more."""


@dataclass(slots=True)
class Outcome:
    """What a variant would have done: prompts at which it spoke, lessons told, and those of them used afterwards."""

    name: str
    gates: Gates | None
    spoke: int = 0
    told: int = 0
    right: int = 0
    _known: set[tuple[str, Lesson]] = field(default_factory=set)

    def tell(self, one: Asked, lessons: Iterable[Lesson], last_use: Mapping[tuple[str, Lesson], float]) -> None:
        """Count what is told at a prompt; what the session was told before is not told again."""
        fresh = {(one.session, lesson) for lesson in lessons} - self._known
        self._known |= fresh
        self.spoke += bool(fresh)
        self.told += len(fresh)
        self.right += sum(last_use.get(key, -1.0) >= one.ts for key in fresh)


@dataclass(frozen=True, slots=True)
class Replay:
    """`decided` prompts were put to the gates again, at `agreed` of them with the outcome that was recorded.

    `used` pairs of session and lesson could have been told before their use; prompts of a memory that is not there any
    more are `gone`. The first outcome is what was recorded, the second the parameters as they are.
    """

    decided: int
    agreed: int
    used: int
    gone: int
    outcomes: Sequence[Outcome]

    def precision(self, one: Outcome) -> float | None:
        """Share of what was told that was used afterwards; None where nothing was told."""
        return one.right / one.told if one.told else None

    def coverage(self, one: Outcome) -> float | None:
        """Share of what was used that had been told; None where nothing was used."""
        return one.right / self.used if self.used else None


def variants() -> Iterator[tuple[str, Gates]]:
    """The parameters as they are, then with one of them changed."""
    yield AS_IT_IS, GATES
    for name, values in VALUES.items():
        for value in values:
            yield f"{name} {value:g}", replace(GATES, **{name: value})


def replay(prompts: Iterable[Asked], uses: Iterable[Use], graphs_of: GraphsOf) -> Replay:
    """Put every prompt to the gates of every variant; `prompts` in the order of the log."""
    outcomes = [Outcome(RECORDED, None), *(Outcome(name, gates) for name, gates in variants())]
    last_use = _last_uses(uses, graphs_of)
    asked_since: dict[str, float] = {}
    decided = agreed = gone = 0
    for one in prompts:
        graphs = graphs_of(one.project)
        if graphs is None:
            gone += 1
            continue
        decided += 1
        asked_since.setdefault(one.session, one.ts)
        question = Query(tuple(Term(term) for term in one.terms), runs(" ".join(one.terms)))
        ranked = [] if only_directive(list(one.terms)) else _then(candidates(graphs, question), one.ts)
        named = [_now_called(graphs, lesson) for lesson in one.named]
        outcomes[0].tell(one, [_now_called(graphs, lesson) for lesson in one.told], last_use)
        for outcome in outcomes[1:]:
            assert outcome.gates is not None
            passed = passing(graphs, question, ranked, outcome.gates)
            outcome.tell(one, [*named, *((hit.graph.level, hit.hit.id) for hit in passed)], last_use)
            agreed += outcome.gates is GATES and one.passed == bool(named or passed)
    used = sum(ts >= asked_since.get(session, ts + 1.0) for (session, _), ts in last_use.items())
    return Replay(decided, agreed, used, gone, outcomes)


def _then(ranked: Sequence[Found], ts: float) -> list[Found]:
    """The hits that had been written by then."""
    return [one for one in ranked if one.node.get("_created_ts", 0.0) <= ts]


def _last_uses(uses: Iterable[Use], graphs_of: GraphsOf) -> dict[tuple[str, Lesson], float]:
    last: dict[tuple[str, Lesson], float] = defaultdict(float)
    for use in uses:
        key = use.session, _now_called(graphs_of(use.project) or (), use.lesson)
        last[key] = max(last[key], use.ts)
    return last


def _now_called(graphs: Sequence[Graph], lesson: Lesson) -> Lesson:
    """The lesson under the id that it has now, as far as renames are on record."""
    level, name = lesson
    for graph in (one for one in graphs if one.level == level):
        for _ in range(RENAMES):
            renamed = (
                "" if name in graph.nodes else tombstones(graph.meta).get(entry_key("node", name), {}).get("renamed")
            )
            if not renamed:
                break
            name = renamed
    return level, name
