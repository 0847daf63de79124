"""Short lists of everyday English that the rules read with: opposites, classes of things, cues.

Written by hand. A word that is missing costs a decision that an LLM or a cross-encoder can still
take; a wrong one would cost a memory, so only clear cases are listed.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from semantic_memory.domain.text import stems


def _stem(word: str) -> str:
    return next(iter(stems(word)), word)


def _opposites(text: str) -> frozenset[frozenset[str]]:
    """Each line: words of one side / words of the other."""
    pairs = set()
    for line in text.strip().splitlines():
        left, right = line.split("/")
        pairs |= {frozenset((_stem(a), _stem(b))) for a in left.split() for b in right.split()}
    return frozenset(pairs)


OPPOSITES = _opposites(
    """
    up / down
    in inside into indoors within / out outside outdoors off
    on onto over above / off under below beneath underneath
    front / behind back
    before / after
    left / right
    near close beside next / far
    toward towards to / from away
    many several lots numerous all every everyone / few none
    always usually often / never rarely seldom
    more / less fewer
    increase increases increased raise raised / decrease decreases decreased reduce reduced cut
    increase increases increased raise raised / lower lowered fall fell drop dropped shrink shrank
    rise rose grow grew / decrease decreases decreased reduce reduced cut
    rise rose grow grew / lower lowered fall fell drop dropped shrink shrank
    high tall / low short
    big large huge tall / small little tiny short
    long / short brief
    fast quick quickly / slow slowly
    hot warm / cold cool
    light bright lit / dark dim dimly darkened
    wet / dry
    clean / dirty muddy
    full / empty
    open opened opening / close closed closing shut
    early / late
    old elderly / young new
    happy glad / sad unhappy upset
    easy / hard difficult
    cheap inexpensive / expensive
    loud loudly noisily / quiet quietly silently
    strong / weak
    thin slim / thick fat
    straight / curly
    love like enjoy prefer adore / hate dislike detest loathe despise avoid
    good great excellent / bad terrible awful
    best / worst
    start started starting begin began / stop stopped stopping end ended finish finished quit
    join joined joining / leave left leaving quit
    buy bought buying / sell sold selling
    give gave giving / take took taking receive received
    lend lent / borrow borrowed
    win won winning / lose lost losing
    accept accepted / reject rejected decline declined refuse refused
    arrive arrived arriving / depart departed leave left
    push pushing / pull pulling
    enter entering / exit exiting leave leaving
    catch caught catching / throw throwing miss missing
    sit sitting / stand standing
    stand standing / lie lying lay laying
    run running / walk walking
    wake awake / sleep asleep sleeping
    add added adding / remove removed removing
    enable enabled / disable disabled
    allow allowed / forbid forbidden ban banned
    pass passed / fail failed
    agree agreed / disagree disagreed
    married / single unmarried divorced
    alive / dead
    man men boy boys guy gentleman male / woman women girl girls lady female
    husband / wife
    son / daughter
    brother / sister
    father dad / mother mom mum
    vegan vegetarian / carnivore carnivorous
    morning / evening night
    day / night
    adult grown-up / child kid baby
    true / false
    public / private
    remote remotely / onsite on-site
    """
)
"""Pairs of stems that can't both be said of the same thing."""

COLOURS = frozenset(
    """
    black brown brunette blonde blond red auburn ginger grey gray white silver redhead blue green
    hazel     purple pink orange yellow amber
    """.split()
)

CLASSES: Mapping[str, frozenset[str]] = MappingProxyType(
    {
        "pet": frozenset(
            """pet pets dog dogs puppy puppies cat cats kitten kittens kitty hamster hamsters
            rabbit rabbits bunny parrot parakeet goldfish turtle tortoise ferret iguana lizard
            gecko labrador retriever poodle terrier beagle collie dachshund chihuahua bulldog
            husky corgi pug spaniel shepherd rottweiler boxer mutt""".split()
        ),
        "child": frozenset(
            """child children kid kids son sons daughter daughters baby babies toddler toddlers
            stepson stepdaughter""".split()
        ),
        "sibling": frozenset("sibling siblings brother brothers sister sisters".split()),
        "partner": frozenset(
            """partner husband wife spouse fiance fiancee boyfriend girlfriend""".split()
        ),
        "car": frozenset("car cars truck trucks van suv sedan vehicle vehicles".split()),
        "job": frozenset("job jobs".split()),
    }
)
"""Things people have, by the word that denies them all."""

CLASS_OF: Mapping[str, str] = MappingProxyType(
    {word: name for name, words in CLASSES.items() for word in words}
)

CLASS_NAMES = frozenset(
    "pet pets child children kid kids sibling siblings partner car cars job jobs".split()
)
"""Words for a whole class: who has none of these has no member of it."""

GENERAL = frozenset(
    _stem(word)
    for word in """
    color colour music food drink beverage thing stuff lot kind type sort sport animal movie film
    book game activity taste flavor flavour time everything something anything bit day play
    drink eat listen watch read do go make have really very much especially favorite favourite
    """.split()
)
"""Stems that say what kind of thing is liked, not which."""

SINGLE_VALUED = frozenset(
    _stem(word)
    for word in """
    name surname nickname birthday birthdate birthplace address email phone number job title role
    occupation profession employer boss manager supervisor husband wife spouse fiance fiancee
    nationality timezone zone deadline budget password salary rent age weight height status
    capital headquarters editor browser shell theme database framework language port version
    region branch plan target goal limit price rate score record size bedtime
    """.split()
)
"""Heads of noun phrases ("the deadline of ...") that have one value at a time."""

DIETS: Mapping[str, str] = MappingProxyType(
    {
        "vegan": "plants",
        "vegetarian": "plants",
        "carnivore": "meat",
        "meat-eater": "meat",
        "omnivore": "meat",
    }
)

MEATS = "meat steak steaks pork beef chicken ham burgers".split()

HAIR_OF: Mapping[str, str] = MappingProxyType(
    {"blonde": "blond", "blond": "blond", "brunette": "brown", "redhead": "red"}
)
"""Hair colours by the words for people who have them."""

MARITAL = frozenset("married single divorced engaged widowed unmarried".split())

WORDING = frozenset(
    _stem(word)
    for word in """
    like love enjoy adore fond fan prefer preference favourite favorite hate dislike detest avoid
    live reside residence base home place settle work employ employee employer company job
    occupation profession title allergic allergy have own possess name call use drink married
    vegetarian vegan diet follow born birthday year old age go going do currently really also very
    """.split()
)
"""Stems with which a claim is put into words: those alone make no difference to what it says."""
