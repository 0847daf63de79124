from datetime import timedelta

import numpy as np
import pytest

from semantic_memory import Category, Fact
from semantic_memory.consolidation.beliefs import told_apart
from semantic_memory.consolidation.decisions import (
    ContestDecision,
    FollowDecision,
    MarkDecision,
    MergeDecision,
    SupersedeDecision,
)
from semantic_memory.consolidation.merging import merged
from semantic_memory.consolidation.superseding import (
    cause,
    dated_by_log,
    perhaps_changed,
    superseded,
    unlinked,
)
from semantic_memory.consolidation.sweep import plan
from semantic_memory.domain.facts import Source, Status
from semantic_memory.domain.trust import Trust
from semantic_memory.judging.ports import Verdict, said_at
from semantic_memory.judging.reading import FactReader
from semantic_memory.testing import HashEmbedder, ScriptedPairJudge, ScriptedSentenceJudge
from tests.conftest import NOW, make_fact

EMBEDDER = HashEmbedder(256)
SECOND = timedelta(seconds=1)
PLACES = ("Berlin", "Rome", "Oslo", "Bonn", "Graz")


def place(text: str) -> str | None:
    return next((one for one in PLACES if one in text), None)


def homes(older: str, newer: str):
    """Another place is a move, the same one a repetition."""
    if not (place(older) and place(newer)):
        return None
    return "same" if place(older) == place(newer) else "over"


READ = FactReader(ScriptedSentenceJudge(lambda text: {"slot": "home"} if place(text) else {}))


class Saying:
    """Says the same of every pair."""

    def __init__(self, over: float = 0.0, same: float = 0.0) -> None:
        self.verdict = Verdict(over, same, "scripted")

    def judge(self, pairs):
        return [self.verdict for _ in pairs]


def at(day: float, number: int, content: str, **values) -> Fact:
    moment = NOW + timedelta(days=day)
    return make_fact(number, content=content, created_at=moment, valid_from=moment, **values)


def planned(*facts: Fact, **values):
    vectors = EMBEDDER.embed([fact.content for fact in facts], "document")
    return plan(facts, vectors, ScriptedPairJudge(homes), READ, **values)


def test_a_merge_keeps_the_higher_confidence_the_first_date_all_sources_and_tags():
    first = at(
        0,
        1,
        "Maya likes tea",
        confidence=0.7,
        tags=("food",),
        source=Source(session_id="s1", message_ids=("m1",)),
    )
    second = at(
        5,
        2,
        "Maya likes tea.",
        confidence=0.9,
        tags=("drinks",),
        source=Source(session_id="s2", message_ids=("m2",)),
    )
    (decision,) = planned(first, second)
    result = decision.result
    assert result.id == second.id
    assert result.confidence == pytest.approx(0.92)
    assert result.created_at == first.created_at
    assert result.confirmed_at == second.created_at
    assert set(result.message_ids) == {"m1", "m2"}
    assert set(result.tags) == {"food", "drinks"}


def test_what_is_merged_is_put_away_and_undone_by_writing_back_what_was():
    facts = (at(0, 1, "Maya likes tea"), at(1, 2, "Maya likes tea!"))
    (decision,) = planned(*facts)
    (away,) = decision.absorbed
    assert away.status is Status.ARCHIVED
    assert away.superseded_by == decision.result.id
    assert decision.facts == facts


def test_a_group_merges_only_if_every_pair_agrees():
    chain = ScriptedPairJudge(lambda older, newer: "same" if "tea b" in (older, newer) else None)
    facts = [at(0, 1, "tea a"), at(1, 2, "tea b"), at(2, 3, "tea c")]
    vectors = np.full((3, 4), 0.5, dtype=np.float32)
    (decision,) = plan(facts, vectors, chain, READ)
    assert isinstance(decision, MergeDecision)
    assert [fact.content for fact in decision.facts] == ["tea a", "tea b"]


def test_the_loser_keeps_its_text_and_says_until_when_it_held_and_what_replaced_it():
    old, new = at(0, 1, "Maya lives in Berlin."), at(9, 2, "Maya moved to Rome.")
    (decision,) = planned(old, new)
    assert isinstance(decision, SupersedeDecision)
    result = decision.result(NOW)
    assert (result.id, result.content, result.status) == (old.id, old.content, Status.SUPERSEDED)
    assert result.valid_to == new.created_at
    assert result.superseded_by == new.id
    cause = result.ended_by
    assert cause is not None
    assert (cause.newer, cause.decided_by, cause.quote, cause.at) == (
        new.id,
        "scripted",
        new.content,
        NOW,
    )
    assert cause.reason == "; ".join(decision.reasons)


def test_a_link_to_a_newer_statement_is_kept_once_and_goes_when_the_newer_ends_the_older():
    old, new, other = (at(day, day + 1, f"fact {day}") for day in range(3))
    linked = perhaps_changed(old, cause(new, "pairs-1", ["a move"], NOW, 0.8))
    linked = perhaps_changed(linked, cause(other, "pairs-1", ["a move"], NOW, 0.8))
    again = perhaps_changed(linked, cause(new, "pairs-2", ["a move"], NOW, 0.9))
    assert [link.newer for link in linked.perhaps_changed] == [new.id, other.id]
    assert [(one.newer, one.decided_by) for one in again.perhaps_changed] == [
        (other.id, "pairs-1"),
        (new.id, "pairs-2"),
    ]
    assert [one.newer for one in unlinked(again, other.id).perhaps_changed] == [new.id]
    ended = superseded(again, new, cause(new, "pairs-2", ["a move"], NOW))
    assert [one.newer for one in ended.perhaps_changed] == [other.id]


def test_a_long_statement_is_quoted_by_its_beginning():
    quote = cause(at(0, 1, "a very long message " * 99), "rules", [], NOW).quote
    assert quote is not None
    assert quote.startswith("a very long message a")
    assert quote.endswith("…")
    assert len(quote) == 300


def test_what_is_dated_ahead_of_now_is_compared_by_its_place_in_the_log():
    first, ahead, after = at(0, 1, "a"), at(900, 2, "b"), at(1, 3, "c")
    imported = at(-300, 4, "d")  # long ago, and written last
    found = dated_by_log([first, ahead, after, imported], NOW + timedelta(days=2))
    assert [found[0], *found[2:]] == [first, after, imported]
    assert [fact.content for fact in sorted(found, key=said_at)] == ["d", "a", "b", "c"]


def test_what_was_said_first_of_all_under_a_wrong_clock_is_the_oldest():
    facts = [at(900, 1, "a"), at(800, 2, "b"), at(0, 3, "c"), at(1, 4, "d")]
    found = dated_by_log(facts, NOW + timedelta(days=2))
    assert [fact.content for fact in sorted(found, key=said_at)] == ["a", "b", "c", "d"]


def test_a_confirmation_dated_ahead_of_now_does_not_count():
    fact = at(0, 1, "a", confirmed_at=NOW + timedelta(days=900))
    (found,) = dated_by_log([fact], NOW + timedelta(days=2))
    assert (found.created_at, found.stated_at) == (fact.created_at, fact.created_at)


def test_facts_of_the_past_keep_their_dates():
    facts = [at(3, 1, "a"), at(1, 2, "b")]
    assert dated_by_log(facts, NOW + timedelta(days=3)) == facts


def test_moving_twice_makes_a_chain():
    facts = [
        at(0, 1, "Maya lives in Berlin."),
        at(9, 2, "Maya moved to Rome."),
        at(20, 3, "Maya moved to Oslo."),
    ]
    assert [(d.loser.id, d.winner.id) for d in planned(*facts)] == [
        ("fact-1", "fact-2"),
        ("fact-2", "fact-3"),
    ]


def test_moving_back_is_believed():
    facts = [
        at(0, 1, "Maya lives in Berlin."),
        at(9, 2, "Maya lives in Rome."),
        at(20, 3, "Maya lives in Berlin"),
    ]
    decisions = planned(*facts)
    assert [type(decision) for decision in decisions] == [MergeDecision, SupersedeDecision]
    assert decisions[1].loser.id == "fact-2"


def test_only_pairs_with_a_changed_fact_are_looked_at():
    facts = [at(0, 1, "Maya likes tea"), at(1, 2, "Maya likes tea."), at(2, 3, "Rain is wet")]
    assert planned(*facts, changed={"fact-3"}) == []
    assert len(planned(*facts, changed={"fact-2"})) == 1


def test_verbatim_messages_and_inactive_facts_are_left_alone():
    assert not planned(
        at(0, 1, "ok", category=Category.CONVERSATION),
        at(1, 2, "ok", category=Category.CONVERSATION),
        at(2, 3, "Maya likes tea", status=Status.ARCHIVED),
        at(3, 4, "Maya likes tea"),
    )


def test_a_fact_merged_with_itself_is_unchanged_in_what_counts():
    once = merged([at(0, 1, "Maya likes tea"), at(1, 2, "Maya likes tea.")])
    assert merged([once]) == once


def test_the_pair_is_given_to_the_judge_in_the_order_in_which_it_was_said():
    judge = ScriptedPairJudge(lambda older, newer: None)
    facts = [at(5, 1, "tea later"), at(0, 2, "tea sooner")]
    plan(facts, np.full((2, 4), 0.5, dtype=np.float32), judge, READ)
    assert [(pair.older.content, pair.newer.content) for pair in judge.pairs] == [
        ("tea sooner", "tea later")
    ]


def test_a_likely_change_of_one_slot_marks_the_older_once_and_ends_nothing():
    old, new = at(0, 1, "the launch in Rome is in May"), at(9, 2, "the launch in Rome slipped")
    vectors = np.full((2, 4), 0.5, dtype=np.float32)
    follows, decision = plan([old, new], vectors, Saying(over=0.9), READ)
    assert isinstance(follows, FollowDecision)
    assert isinstance(decision, MarkDecision)
    marked = decision.result(NOW)
    assert (marked.status, [link.newer for link in marked.perhaps_changed]) == (
        Status.ACTIVE,
        [new.id],
    )
    assert marked.perhaps_changed[0].probability == 0.9
    assert plan([marked, follows.result], vectors, Saying(over=0.9), READ) == []


def test_a_statement_follows_what_it_may_change_and_the_older_is_left_as_it_is():
    old, new = at(0, 1, "the launch is in May"), at(9, 2, "the launch slipped again")
    apart = np.eye(2, 4, dtype=np.float32) + 0.4
    apart /= np.linalg.norm(apart, axis=1, keepdims=True)
    (decision,) = plan([old, new], apart, Saying(over=0.9), READ)
    assert isinstance(decision, FollowDecision)
    followed = decision.result
    assert (followed.id, followed.follows, followed.status) == (new.id, (old.id,), Status.ACTIVE)
    assert plan([old, followed], apart, Saying(over=0.9), READ) == []
    assert plan([old, new], apart, Saying(over=0.8), READ) == []
    own = new.model_copy(update={"source": Source(role="assistant"), "trust": Trust.AGENT})
    said = old.model_copy(update={"source": Source(role="user")})
    assert plan([said, own], apart, Saying(over=0.9), READ) == []


def test_what_the_owner_says_of_themselves_changes_nothing_about_somebody_else():
    def read(text):
        of_sister = "sister" in text
        about = {"about": "near", "about_self": 0.05} if of_sister else {"about_self": 0.95}
        return {"slot": "home", **about}

    reader = FactReader(ScriptedSentenceJudge(read))
    sister, own = at(0, 1, "Maya's sister lives in Bonn."), at(0, 2, "Maya lives in Rome.")
    moved = at(9, 3, "Maya moved to Oslo.")
    facts = [sister, own, moved]
    vectors = EMBEDDER.embed([fact.content for fact in facts], "document")
    (found,) = plan(facts, vectors, ScriptedPairJudge(lambda *_: "over"), reader)
    assert isinstance(found, SupersedeDecision)
    assert (found.loser.id, found.winner.id) == (own.id, moved.id)


def test_what_was_told_apart_follows_no_more():
    old = at(0, 1, "the launch is in May")
    new = at(9, 2, "the launch slipped").model_copy(update={"follows": (old.id, "other")})
    _, (kept,) = told_apart(old, [new])
    assert kept.follows == ("other",)


def test_of_what_was_added_at_one_moment_nothing_is_ended_and_equal_statements_merge():
    together = [at(0, number, f"Maya lives in {place}.") for number, place in enumerate(PLACES[:2])]
    assert planned(*together) == planned(*reversed(together)) == []
    assert isinstance(planned(*together, at(0, 9, "Maya's home is Rome."))[0], MergeDecision)
    (decision,) = planned(*together[:1], at(0, 9, "Maya lives in Rome.", recorded_at=NOW + SECOND))
    assert isinstance(decision, SupersedeDecision)


def test_the_judge_reads_no_pair_that_no_verdict_changes():
    one, other = "I live in Rome with 2 cats.", "I live in Oslo with 3 cats."
    apart, kept = told_apart(at(0, 1, one), [at(5, 2, other)])
    for facts, read in (
        ([at(0, 1, one), at(0, 2, other)], []),  # of one moment: they could only merge
        ([at(0, 1, one), at(5, 2, other)], [(one, other)]),
        ([apart, *kept], []),
        # what was said again later is newer than what was said with it
        ([at(0, 1, one), at(0, 2, other), at(5, 3, one)], [(other, one)]),
    ):
        judge = ScriptedPairJudge(homes)
        vectors = np.full((len(facts), 4), 0.5, dtype=np.float32)
        plan(facts, vectors, judge, READ)
        assert [(pair.older.content, pair.newer.content) for pair in judge.pairs] == read


def test_a_part_of_what_was_said_may_be_over_and_the_rest_not():
    said = ["I play tennis and the piano.", "I play tennis on Mondays, I sing on Fridays."]
    near = np.full((2, 4), 0.5, dtype=np.float32)
    for one in said:
        facts = [at(0, 1, one), at(9, 2, "I quit tennis.")]
        assert isinstance(plan(facts, near, Saying(over=0.98), READ)[-1], MarkDecision)


def test_the_judge_alone_ends_what_is_near_and_surely_changed():
    facts = [at(0, 1, "the launch is in May"), at(9, 2, "the launch slipped")]
    near = np.full((2, 4), 0.5, dtype=np.float32)
    far = np.array([[1.0, 0.0], [0.45, 0.893]], dtype=np.float32)
    assert isinstance(plan(facts, near, Saying(over=0.98), READ)[-1], SupersedeDecision)
    assert isinstance(plan(facts, near, Saying(over=0.96), READ)[-1], FollowDecision)
    assert isinstance(plan(facts, far, Saying(over=0.98), READ)[-1], FollowDecision)
    assert plan(facts, near, Saying(over=0.8), READ) == []
    alone = ScriptedPairJudge(lambda older, newer: "over")
    assert isinstance(plan(facts, near, alone, READ)[0], SupersedeDecision)


def test_a_less_trusted_statement_contests_and_ends_nothing():
    own = at(0, 1, "Maya lives in Rome.", source=Source(role="user"))
    inferred = at(5, 2, "Maya lives in Bonn.", source=Source(role="assistant"))
    (decision,) = planned(own, inferred)
    assert isinstance(decision, ContestDecision)
    assert [fact.contested_by for fact in decision.results] == [(inferred.id,), (own.id,)]


def test_an_event_is_never_ended_and_another_speaker_ends_nothing():
    def read(text: str) -> dict[str, object]:
        return {"kind": "event"} if "moved" in text else {}

    facts = [at(0, 1, "Maya moved to Berlin."), at(9, 2, "Maya lives in Rome.")]
    vectors = np.full((2, 4), 0.5, dtype=np.float32)
    judge = ScriptedPairJudge(homes)
    assert plan(facts, vectors, judge, FactReader(ScriptedSentenceJudge(read))) == []
    others = [
        at(0, 1, "Maya lives in Berlin.", source=Source(role="user", speaker="Maya")),
        at(9, 2, "Tom lives in Rome.", source=Source(role="user", speaker="Tom")),
    ]
    assert planned(*others) == []


def test_statements_that_differ_in_figures_or_names_are_never_merged():
    vectors = np.full((2, 4), 0.5, dtype=np.float32)
    for one, other in (
        ("Flight on the 4th", "Flight on the 5th"),
        ("I met Tom there", "I met Ana there"),
        ("I drink coffee", "I don't drink coffee"),
    ):
        assert plan([at(0, 1, one), at(1, 2, other)], vectors, Saying(same=1.0), READ) == []


def test_what_the_judge_cannot_read_is_left_alone():
    class Silent:
        def judge(self, pairs):
            return [None for _ in pairs]

    facts = [at(0, 1, "Ich wohne in Bern"), at(9, 2, "Ich wohne jetzt in Zug")]
    vectors = np.full((2, 4), 0.5, dtype=np.float32)
    assert plan(facts, vectors, Silent(), READ) == []
