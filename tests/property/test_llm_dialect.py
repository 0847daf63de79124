"""The options of an endpoint are learnt, whatever it says and whatever it takes."""

from hypothesis import given
from hypothesis import strategies as st

from semantic_memory.llm.dialect import LADDERS, Dialect, Negotiation

MOST_SENDS = 3  # of one request once refused: a probe, what is known, without all options
TAKEN = st.fixed_dictionaries(
    {option: st.sets(st.sampled_from([f for f in forms if f])) for option, forms in LADDERS.items()}
)
WORDS = st.sampled_from(["Bad Request", "参数无效", "", "unknown field `temperature` in body"])
USES = st.sets(st.sampled_from(sorted(LADDERS)), min_size=1)


def ask(known: Dialect, taken, used, words) -> tuple[Dialect, int]:
    """Return what is known after a request, and how often it was sent."""
    negotiation = Negotiation(known, used)
    sends = 1
    while not all(
        (form := negotiation.tried.form(option)) is None or form in taken[option] for option in used
    ):
        assert negotiation.refused(words.casefold()), "a request that can be served was given up"
        sends += 1
    return negotiation.served(), sends


def best(taken, option):
    return next((form for form in LADDERS[option] if form in taken[option]), None)


@given(TAKEN, WORDS.filter(lambda words: "temperature" not in words), st.lists(USES, max_size=9))
def test_the_best_form_of_each_option_is_found_whatever_is_refused(taken, words, uses):
    known = Dialect()
    for used in [*uses, *[set(LADDERS)] * 8]:
        known, sends = ask(known, taken, used, words)
        assert sends <= MOST_SENDS
    assert {option: known.form(option) for option in LADDERS} == {
        option: best(taken, option) for option in LADDERS
    }
    assert ask(known, taken, set(LADDERS), words) == (known, 1)


@given(TAKEN, WORDS, st.lists(USES, max_size=20))
def test_words_that_mislead_end_no_request(taken, words, uses):
    known = Dialect()
    for used in uses:
        known, sends = ask(known, taken, used, words)
        assert sends <= 8


@given(USES, WORDS)
def test_a_request_that_nothing_makes_acceptable_is_given_up(used, words):
    negotiation = Negotiation(Dialect(), used)
    for _ in range(8):
        if not negotiation.refused(words):
            return
    raise AssertionError("it is asked without end")
