"""Cuts a message into statements: one subject, one verb, as it was said.

"Hey! I have a dog named Rex and work at Siemens, you?"
    ->  "I have a dog named Rex", "I work at Siemens"
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

import sentencex

from ingest.extract.lexicon import MODALS, WORD, Form, forms, is_adverb, is_verb, is_word

_CODE = re.compile(r"```.*?(?:```|\Z)|`[^`\n]*`|https?://\S+", re.DOTALL)
_SPACE_BEFORE_MARK = re.compile(r"\s+([.,!?;:])(?=[\s.,!?;:]|$)")
_MARKUP = re.compile(r"^\s*(?:[-*•>#]+|\d+[.)])\s+", re.MULTILINE)
_LOWER_I = re.compile(r"(?<![\w.'’-])i(?=$|[\s,!?]|['’](?:m|ve|ll|d)\b)")
_JOINED_UP = re.compile(
    r"\b(?:(im)|(ive)|(dont|don not)|(cant)|(didnt)|(doesnt)|(wasnt)|(isnt)|(havent)|"
    r"(couldnt)|(wouldnt))\b",
    re.I,
)
_SAID = {
    "wanna": "want to", "gonna": "going to", "gotta": "have to", "'ve gotta": " have to",
    "'s gotta": " has to", "theyre": "they're", "youre": "you're", "whos": "who's",
    "thats": "that's", "hes": "he's", "shes": "she's", "theyve": "they've", "wont": "won't",
}  # fmt: skip
_SLANG = re.compile(
    rf"\b(?:{'|'.join(said for said in _SAID if said.isalpha())})\b|'(?:ve|s) gotta\b",
    re.IGNORECASE,
)
_I_JOINED = re.compile(
    r"(?P<before>^|[.!?,;\n]\s*|\b(?:and|but|so|maybe|lol|think|cause)\s)(?P<word>ill|id)"
    r"(?P<between>\s(?:(?:just|never|probably|always|also|definitely|rather)\s)?)"
    r"(?P<verb>[a-z]+)\b",
    re.IGNORECASE,
)
_INVISIBLE = re.compile(r"[\u200b\u200e\u200f\u2060-\u2064\ufeff\u00ad]")
_REPEATED = re.compile(r"([a-z])\1{2,}", re.IGNORECASE)
_DRAWN_OUT = re.compile(r"\b(?!www\b|i+\b)[a-z]*([a-z])\1{2,}[a-z]*\b", re.IGNORECASE)
_NEGATED_APART = re.compile(r"\b(?:(wo)|(ca)) not\b", re.IGNORECASE)
_APART = (
    "I'm",
    "I've",
    "don't",
    "can't",
    "didn't",
    "doesn't",
    "wasn't",
    "isn't",
    "haven't",
    "couldn't",
    "wouldn't",
)
_APOSTROPHE_APART = re.compile(r"\b(I|we)(?:\s+'(m|ve|ll|d|re)|\s(m|ve))\b", re.IGNORECASE)
# "What is your favorite color? Mine is green"
_ASKED_AND_ANSWERED = re.compile(
    r"\b(?P<asked>(?P<kind>favou?rite|fave?)|(?:you|u) have(?: an?"
    r"| any)?) (?P<what>(?:[\w-]+ ){0,2}?[\w-]+)"
    r"[\s.,?!]+mine (?P<verb>is|are)\b",
    re.IGNORECASE,
)
# sentencex waits for a capital letter; who writes without them still ends sentences.
_END = re.compile(
    r"(?<=[!?])[\s\"')]+|(?<=\w{2}[.)])\s+(?=I\b|my\b|we\b|she\b|he\b|it\b)|\s*(?:\.\s?){2,}\s*|…"
)

_OPENER = re.compile(
    r"""^(?:
      (?: (?:oh|ah|aww?e?|wow|sigh|phew|ugh|gosh|thank[ ]god|let'?s[ ](?:just[ ])?say
        |thanks[ ]any[ ]?ways?|any[ ]?ways?|hey|hi+|hello|hiya|yo|yes|yeah|yea|yep|yup|nope
        |nah|ok|okay|well
        |haha\w*|lol|hmm+
          |ha|hah|omg|cool|nice|good|(?:pretty|not[ ]too|very)[ ](?:good|bad|well)|great|awesome
            |sweet|neat|sure|right|exactly|absolutely|definitely|totally
          |true|thanks|thank[ ]you|anyway|anyways|honestly|actually|basically|also|plus|btw
            |by[ ]the[ ]way
          |fyi|guess[ ]what|sorry|please|man|dude|wonderful|interesting|congrats|no
            |it'?s[ ]because|it[ ]is[ ]because|so|and|but|or|then|too|indeed
          |agreed|same[ ]here|me[ ](?:too|either|neither)|of[ ]course|you[ ]know|i[ ]mean
            |to[ ]be[ ]honest|in[ ]fact|as[ ]for[ ]me|for[ ]me
          |speaking[ ]of[ ][\w ]+|good[ ](?:morning|evening|afternoon|day|night)
            |nice[ ]to[ ]meet[ ]you
          |remember[ ]that|please[ ]note(?:[ ]that)?|for[ ]the[ ]record
            |keep[ ]in[ ]mind(?:[ ]that)?|note[ ]that
          |please[ ]remember(?:[ ]that)?|not[ ](?:much|really|bad|too[ ]bad)|nothing[ ]much
            |nothing|unfortunately|luckily|fortunately|sadly|tbh|personally)
        (?: [ ](?:there|all|everyone|guys|man|dude|friend|again|a[ ]lot|so[ ]much|very[ ]much))?
        (?: [ ][A-Z][a-z]+ (?=[,!.]) )?
      )
      (?: \s*[,!.:;-]+\s* | \s+(?=I\b|I'|my\b|we\b|just\b|(?:everyday|usually|sometimes
        |when)\sI\b|(?:(?:it|that|this)(?:'?s|[ ]is)[ ])) )
    | (?:oh[ ]my[ ]god|my[ ]god|btw|yum+|yep|yup|nah|oo+h?|ah|oh|wow|haha|lol|well|yeah
      |yes|hey|hi|hello|omg|aww)[ ]
    | (?:although|though)[ ](?=I\b[^,]*$) | (?:ah|oh|i)[ ]see[ ](?=I\b)
    | (?:not[ ]really|for[ ]sure|of[ ]course|(?:good[ ])?morning)[ ](?=I\b)
    | \w[\w ]{2,28}:[ ]+(?=I\b|I'|[Mm]y\b|[Ww]e\b)
    | (?:possibly|maybe|perhaps|probably)[,.]+[ ](?=I\b|my\b|we\b)
    | you[ ](?:should[ ]know|know|can[ ]tell|see)(?:[ ]that)?,?[ ](?=I\b|my\b|we\b)
    | how[ ]are[ ]you(?:[ ]doing)?(?:[ ]today)?[ ](?=I\b)
    | I[ ](?:agree|see|know|understand|hear[ ](?:that|you)|bet|think[ ]so|get[ ]that
      |feel[ ](?:that|you))(?:[ ]totally|[ ]completely)?
      (?:[,.!;]+[ ] | [ ](?=I[ ]\w+[ ]\w))
    | (?:that|this|it)(?:'s|[ ]is|[ ]was|[ ]sounds?|[ ]must[ ]be)[ ](?!what|where|how|why|when
      |because|all|who|something|one)(?:(?:so|really|very|pretty|too|a[ ]lot[ ]of|alot[ ]of
        |such[ ]a|a)[ ])?\w+
      (?: \s*[,!.;]+\s*(?=I\b|I'|my\b|we\b) | \s+(?=I[ ]\w+[ ]\w|I'|my\b) )
    | (?:so[ ]|and[ ])?(?:that|this|it|which)(?:'?s|[ ]is|[ ]must[ ]be|[ ]could[ ]be)[ ]
      (?:why|how|because)[ ](?=I\b|my\b|we\b)
    | I(?:'m|[ ]am)[ ](?:\w+[ ])?(?:good|great|fine|well|ok|okay|alright)
      (?: \s*[,!.;]+\s*(?:(?:thanks|thank[ ]you)[,.!]*\s*)?(?=\S) | \s+(?=just\b|I\b|my\b|how\b) )
    | (?:and|but|so|then|because|plus|also|yet)[ ]
    )""",
    re.IGNORECASE | re.VERBOSE,
)
_VOCATIVE = re.compile(
    r"^(?!Yesterday|Today|Tomorrow|Tonight|\w+day,|\w+ly,|Now|Sometimes|Once|Afterwards)"
    r"[A-Z][a-z]+[,!]\s+(?=I\b|I'|[Mm]y\b|[Ww]e\b)"
)
_TAIL = re.compile(
    r"""(?: [,;]?\s*\b(?:haha\w*|lol|lmao|xd|you[ ]know|though|tho|right|too|as[ ]well|either
      |also|and[ ]you(?:[ ]are)?|too[ ]bad|thanks|thank[ ]you|please)
      | [\s,]*[^\w\s.,!?;:'"()%$€£+#/&*-]+
      | \s*[:;]['-]?[()DPp/]+ | \s*<3 )[\s.!?]*$""",
    re.IGNORECASE | re.VERBOSE,
)
_ASKED_BACK = re.compile(
    r"""(?: [,.;!-]+\s*(?:(?:and|but|so)\s+)?
        (?:(?:what|whats|what's|how|hows|do|does|did|are|is|was|have|has|can|could|would
          |will|where|who|why|which|when|you|your|u|isn't
        |aren't|don't|doesn't|didn't|right|huh|any)\b)
      | \s+(?:and\s+)?(?: what[ ](?:is|are|do|kind)\b | how[ ]is[ ]your\b | any[ ]\w+\s*\?
        | do[ ](?:you|u)\b | are[ ]you\b | have[ ]you\b | what[ ]about\b | how[ ]about\b
          | how[ ]are[ ]you\b | (?:you|yours|yourself|u)\s*\?
        | (?:and|but)\s(?:you|do|are|what|how|where|have|did)\b ) )
    [^.?!]*\?+$""",
    re.IGNORECASE | re.VERBOSE,
)
# "I love baking what about you": who writes without marks asks without them too.
_ASKED_UNMARKED = re.compile(
    r"(?<=\w{2})[\s,]+(?:(?:what|how)\s(?:a?bout)\s(?:you|u|urs|yours?)|(?:what|where"
    r"|how)\sdo(?:es)?\s(?:you|u|yours)"
    r"|do\s(?:you|u)|are\syou|have\syou|what(?:\sis|'?s)\syours?|and\s(?:you|u)|hbu|wbu)\b"
    r"(?!.*\bI\b).*$",
    re.IGNORECASE,
)
_QUESTION = re.compile(
    r"""^(?: (?:do|does|did|are|is|was|were|have|has|can|could|would|will|should|may)[ ]
          (?:you|i|we|he|she|it|they|there|the|your|my|that|this|any)\b
      | (?:what|where|who|whose|why|which|how)\b (?![ ]an?\b) (?!.*\bis[ ](?:that|where|how
        |why)\b) )""",
    re.IGNORECASE | re.VERBOSE,
)

# "I love the lake?" has the order of a statement; "do you fish, I love it" holds one.
_DECLARES = re.compile(r"(?:I|I'(?:m|ve)|my|we)\s", re.IGNORECASE)
_ANSWERS_ITSELF = re.compile(
    r"(?:[,;]\s*(?=(?:I|my|we)\b)"
    r"|\s(?=I (?:love|like|live|work|enjoy|prefer|drink|eat|play|have (?:a|an|two|three|\d)"
    r"|am (?:a|an|the|from|in|\d)|retired|moved|married)\b|my favou?rite\b))"
    r"(?P<answer>.+)$",
    re.IGNORECASE,
)

_SUBORDINATE = re.compile(
    r"^(?:when|whenever|if|since|because|while|although|though|even|after|before|as|once"
    r"|until|unless"
    r"|whether|despite|given|in|on|at|for|with|during|by|every|last|this|next|yesterday|today)\b",
    re.IGNORECASE,
)
_OWN = r"(?:I|I'(?:m|ve|ll|d)|[Ww]e|[Ww]e'(?:re|ve|ll|d))"
_THING = (
    r"(?:[Mm]y|[Oo]ur)(?:\s[\w'-]+){1,3}\s(?:is|was|has|had|are|were|have|lives?|works?"
    r"|loves?|likes?)"
)
_NEW_CLAUSE = re.compile(
    rf"""(?: ;\s* | \s[-–—]+\s
        | ,?\s+(?:and|but|so|yet|plus|then)\s+(?:(?:then|also|now|so)\s+)?
            (?={_OWN}\b|{_THING}\b|(?:it|this|that|he|she|they|there)(?:'|\s(?:is|was|are|were|has|had|will|can)\b))
        | ,\s*(?:(?:then|also|plus|though|however)\s+)?
            (?={_OWN}\b|{_THING}\b|(?:it|this|that|he|she|they|there)(?:'|\s(?:is|was|are|were|has|had|will|can)\b))
        )""",
    re.VERBOSE,
)
_SECOND_VERB = re.compile(
    r"(?P<link>,?\s+(?:and|but|then|and then|and also|but also|and now|but now|,)\s+|,\s+)"
    r"(?:(?P<adverb>just|really|also|usually|often|recently|still|even)\s+)?(?P<verb>[a-z']+)"
    r"\s+(?P<next>[\w']+)"
)
_COMPLEMENT = frozenset(
    """
    a an the my our some any two three four five many every at for in to with on from as about
    up out into off back away home around it them him her you that all more most lots new it's
    hers well
    really very quite most mostly there here during over through until
    """.split()
)
_BLOCKS = re.compile(
    r"\b(?:who|that|which|when|because|if|while|where|as|whom|whose|how|to see|let)\b",
    re.IGNORECASE,
)
_DROPPED = frozenset("love enjoy hate prefer need want miss loved liked enjoyed".split())
_PARTICLES = frozenset(
    "just still also really finally recently currently always usually never".split()
)


# "... at home I love my dog": a new statement without a mark or a word that would join it.
_RUN_ON = re.compile(
    r"(?P<last>[\w'-]+)(?P<gap>\s+)(?=I (?:am|have|love|like|prefer|enjoy|hate|despise|work|live"
    r"|just|also|always|never|was|got|went|play"
    r"|study|want|need|do not|don't|really|usually|recently|currently)\s+\S+\s+\S|I'(?:m"
    r"|ve)\s+\S+\s+\S"
    r"|my (?:favorite|favourite|name|wife|husband|mom|dad|dog|cat|job)\s(?:[\w']+\s){0,2}(?:is"
    r"|was|are|has)\b)"
)
_OPENS = frozenset(
    """
    that when if because since where and but so as what which who how while than cause cuz think
    guess know hope wish said say told until after before whatever like or though although unless
    whenever once whether bet mean feel sure glad happy sorry now then today lately sometimes why
    everything anything something all one ones thing things way time reason the a my of for with
    days nights yet believe realize realise swear afraid to is was are be people person place
    """.split()
)
NOUN_PHRASE = re.compile(
    r"\b(?:the|a|an|only|best|first|last|every|any|no|some)\s(?:[\w'-]+\s){0,2}[\w'-]+$",
    re.IGNORECASE,
)


_LONGEST = 1_000
"""Characters of a sentence; longer ones are lists, logs and the like."""


class Clause(NamedTuple):
    """A statement and what joined it to the one before, in the same sentence."""

    text: str
    link: str


class Head(NamedTuple):
    """The beginning of a clause in the first person."""

    subject: str
    auxiliary: str
    form: Form | None
    negated: bool
    end: int
    """Where its verb ends."""


_UNBROKEN = re.compile(r"\S{200,}")
_BLANKS = re.compile(r"\s{8,}")


def prepared(text: str) -> str:
    """A message without code, links, list marks and the spellings of haste."""
    # What nobody writes would take the expressions below more than linear time.
    text = _BLANKS.sub(lambda found: "\n\n" if "\n" in found[0] else " ", _UNBROKEN.sub(" ", text))
    text = _CODE.sub(" ", text.replace("’", "'").replace("‘", "'"))
    text = _MARKUP.sub("", text)
    text = _SPACE_BEFORE_MARK.sub(r"\1", text)
    if text.isascii() or _LOWER_I.search(text):
        text = _JOINED_UP.sub(lambda found: _APART[(found.lastindex or 1) - 1], text)
    text = _INVISIBLE.sub("", text)
    text = _SLANG.sub(lambda found: _SAID[found[0].lower()], text)
    text = _I_JOINED.sub(_with_apostrophe, text)
    text = _NEGATED_APART.sub(lambda found: "won't" if found[1] else "can't", text)
    if _REPEATED.search(text):
        text = _DRAWN_OUT.sub(_shortened, text)
    text = _LOWER_I.sub("I", text)
    text = _APOSTROPHE_APART.sub(lambda found: f"{found[1]}'{found[2] or found[3]}", text)
    return _ASKED_AND_ANSWERED.sub(_answered, text)


def _with_apostrophe(found: re.Match[str]) -> str:
    """The words "ill" and "id" as "I'll" and "I'd", where a verb follows."""
    if Form.BASE not in forms(found["verb"]):
        return found[0]
    short = "I'd" if found["word"][1:] == "d" else "I'll"
    return f"{found['before']}{short}{found['between']}{found['verb']}"


def _shortened(found: re.Match[str]) -> str:
    """A word without the letters that were drawn out: "looove" is "love", "goood" is "good"."""
    twice = _REPEATED.sub(r"\1\1", found[0])
    return twice if is_word(twice) else _REPEATED.sub(r"\1", found[0])


def _answered(found: re.Match[str]) -> str:
    what = f"favorite {found['what']}" if found["kind"] else found["what"]
    return f"{found['asked']} {found['what']}? My {what} {found['verb']}"


class Sentence(NamedTuple):
    """A sentence without greetings, questions and the like, and as it was said."""

    text: str
    said: str


def sentences(text: str) -> Iterator[Sentence]:
    """The sentences of a prepared text in which something is stated."""
    for line in text.splitlines():
        for segment in sentencex.segment("en", line):
            for part in _END.split(segment):
                if len(part) <= _LONGEST and (sentence := _trimmed(part)):
                    yield Sentence(sentence, part)


def clauses(sentence: str) -> list[Clause]:
    """The statements that a sentence joins, each with a subject of its own."""
    found: list[Clause] = []
    for clause in _independent(_with_subject(sentence)):
        found += _shared(clause)
    return found


def head(clause: str) -> Head | None:
    """The subject and verb of a clause that begins with "I" or "we"."""
    subject = re.match(r"(I|we)('(?:m|ve|ll|d|re))?(?![\w'])", clause, re.IGNORECASE)
    if subject is None:
        return None
    auxiliary = subject[2] or ""
    negated = False
    place = subject.end()
    while word := re.compile(r"\s+([\w'-]+)").match(clause, place):
        lowered = word[1].lower()
        if lowered in ("not", "never", "don't", "didn't", "haven't", "won't", "can't", "wasn't"):
            negated = True
            auxiliary += word[0] if lowered not in ("not", "never") else ""
        elif lowered in MODALS or lowered in ("am", "have", "was", "had", "are", "were", "been"):
            following = re.compile(r"\s+(?:not\s+|\w+ly\s+|just\s+|also\s+)?([\w'-]+)").match(
                clause, word.end()
            )
            wanted = (
                {Form.ING}
                if lowered in ("am", "was", "are", "were", "been")
                else ({Form.PAST, Form.BASE} if lowered in MODALS else {Form.PAST})
            )
            participle = following[1].lower() if following else ""
            if forms(participle) & wanted or participle == "been":
                auxiliary += word[0]
            else:
                now = lowered in ("am", "have", "are")
                form = Form.BASE if now else Form.PAST
                return Head(subject[1], auxiliary, form, negated, word.end())
        elif not is_adverb(lowered):
            known = forms(lowered)
            known_form = next(
                (each for each in (Form.ING, Form.PAST, Form.BASE) if each in known), None
            )
            return Head(subject[1], auxiliary, known_form, negated, word.end())
        place = word.end()
    return None


def _trimmed(sentence: str) -> str:
    sentence = sentence.strip(' \t"*_~')
    while True:
        shorter = _TAIL.sub("", sentence) if not sentence.endswith("?") else sentence
        while (opener := _OPENER.match(shorter)) and opener.end() < len(shorter):
            shorter = shorter[opener.end() :].lstrip(" ,.!")
        shorter = _VOCATIVE.sub("", shorter)
        if shorter.endswith("?"):
            shorter = _ASKED_BACK.sub("", shorter)
        elif cut := _ASKED_UNMARKED.search(shorter):
            shorter = shorter[: cut.start()]
        shorter = shorter.rstrip(" ,;:-")
        if shorter == sentence:
            break
        sentence = shorter
    if _QUESTION.match(sentence) or (sentence.endswith("?") and not _DECLARES.match(sentence)):
        answer = _ANSWERS_ITSELF.search(sentence.rstrip("?"))
        asked = len(sentence[: answer.start()].split()) > 2 if answer else False
        sentence = answer["answer"] if answer and asked else ""
    return sentence.rstrip(".!?, ")


def _with_subject(sentence: str) -> str:
    """A sentence with the "I" that its writer left out: "Just got a dog", "Working on it"."""
    words = [word.group() for word in WORD.finditer(sentence)]
    place = 0
    while place < len(words) and words[place].lower() in _PARTICLES:
        place += 1
    if len(words) < place + 2 or not sentence[:1].isalpha():
        return sentence
    first, second = words[place].lower(), words[place + 1].lower()
    if [word.lower() for word in words[place + 1 : place + 3]] == ["for", "now"]:
        return sentence  # "Tiered for now" says what something is
    known = forms(first)
    start = sentence[:1].lower() + sentence[1:]
    if first in _CLAUSE_VERBS and second in _SUBJECTS:
        return f"I {start}"
    if first == "was" and any(Form.ING in forms(word) for word in words[1:3]):
        return f"I {start}"
    if first == "been" or (first in _STATES and second in _COMPLEMENT):
        return f"I {'have' if first == 'been' else 'am'} {start}"
    if place and known == {Form.PAST} and not _describes(first, second):
        return f"I {start}"
    if (first in _DROPPED and second not in ("the", "your", "every", "it")) or (
        (known == {Form.PAST} and first not in MODALS and not _describes(first, second))
        and second in _COMPLEMENT | {"hiking", "shopping", "camping", "swimming", "fishing"}
    ):
        return f"I {start}"
    own = place or second in _COMPLEMENT or "my" in words
    finite = not place and _finite(words[1:])
    if known == {Form.ING} and first != "being" and own and "I" not in words and not finite:
        return f"I am {start}"
    return sentence


def _describes(first: str, second: str) -> bool:
    """Whether the words rather begin a description: "Based on", "Made by"."""
    return second == "by" or first in _DESCRIBING


_DESCRIBING = frozenset(
    "based given compared was were had did could would made called located supposed pleased".split()
)
_CLAUSE_VERBS = frozenset(
    "wish think thought hope hoped know knew realized realised figured guess feel felt bet".split()
)
_SUBJECTS = frozenset("i i'd i'll i'm i've we my".split())
_STATES = frozenset(
    """
    married divorced engaged retired tired exhausted excited interested worried scared bored amazed
    disappointed surprised thrilled blessed allergic addicted obsessed proud stuck
    """.split()
)


def _finite(words: list[str]) -> bool:
    return any(
        word.lower() in ("is", "are", "was", "were", "has", "have", "had", "do", "does")
        or word.lower() in MODALS
        or forms(word) in ({Form.THIRD}, {Form.PAST})
        for word in words
    )


def _independent(sentence: str) -> Iterator[Clause]:
    start = 0
    link = ""
    sentence = _RUN_ON.sub(_separated, sentence)
    for found in _NEW_CLAUSE.finditer(sentence):
        left = sentence[start : found.start()]
        if not _stands(left) or sentence.count('"', 0, found.start()) % 2:
            continue
        yield Clause(left.strip(" ,"), link)
        link, start = found.group(), found.end()
    yield Clause(sentence[start:].strip(" ,"), link)


def _separated(found: re.Match[str]) -> str:
    """The end of a statement and the next one's beginning, with a mark between them if it lacks."""
    before = found.string[: found.end("last")]
    words = before.split()
    joined = (
        found["last"].lower() in _OPENS
        or len(words) < 2
        or not _stands(before)
        or _SUBORDINATE.match(before)
        or NOUN_PHRASE.search(before)
    )
    return found["last"] + (found["gap"] if joined else "; ")


# "I shook it, and if it didn't break" goes on behind the comma.
_OPEN_CONDITION = re.compile(
    r"(?:,|\b(?:and|but|because|that))\s+(?:and\s|but\s)?(?:if|when|whenever|unless)\s[^,]*$",
    re.IGNORECASE,
)


def _stands(left: str) -> bool:
    """Whether what is left of a boundary is a clause by itself."""
    if len(left.split()) < 2 or _OPEN_CONDITION.search(left):
        return False
    if _SUBORDINATE.match(left):
        # "When I was young, I ..." is one statement, "In May I moved, I ..." are two
        return bool(re.search(r",\s*(?:I|we|my)\b", left)) or (
            not re.match(
                r"(?:when|whenever|if|since|because|while|although|though|even|after|before"
                r"|as|once|until|unless|whether)\b",
                left,
                re.I,
            )
            and not re.search(r"\b(?:when|while|if)\b", left)
            and bool(re.search(r"\b(?:I|we)\b", left))
        )
    return bool(re.search(r"\b(?:I|we|it|he|she|they|you|there)\b|'s\b", left, re.I)) or _finite(
        left.split()
    )


def _shared(clause: Clause) -> list[Clause]:
    """Two statements of one subject with two verbs: "I have a dog and work at Siemens"."""
    own = head(clause.text)
    if own is None or own.form is None:
        return [clause]
    for found in _SECOND_VERB.finditer(clause.text, own.end):
        left = clause.text[: found.start()]
        if (
            _continues(own, clause.text[own.end : found.start()], found)
            and left.count('"') % 2 == 0
        ):
            auxiliary = "" if own.negated else own.auxiliary
            rest = clause.text[found.start("adverb") if found["adverb"] else found.start("verb") :]
            second = Clause(f"{own.subject}{auxiliary} {rest}", found["link"])
            return [Clause(left.rstrip(" ,"), clause.link), *_shared(second)]
    return [clause]


def _continues(own: Head, between: str, found: re.Match[str]) -> bool:
    """Whether a verb behind "and" shares the subject, rather than being a noun or an infinitive."""
    verb, following, link = found["verb"], found["next"].lower(), found["link"].strip()
    if _BLOCKS.search(between) or (own.negated and "but" not in link):
        return False
    if own.form not in forms(verb) or verb in MODALS or verb in ("be", "been"):
        return False
    if following not in _COMPLEMENT and not following.endswith("ing"):
        return False
    if link == "," and (
        own.form is not Form.PAST or following not in ("a", "an", "the", "my", "our")
    ):
        return False
    words = WORD.findall(between)
    match own.form:
        case Form.BASE:
            open_to_verbs = (
                (own.auxiliary and not own.negated) or " to " in f"{between} " or not words
            )
            return not open_to_verbs and (verb != words[0])
        case Form.ING:
            return not any(Form.ING in forms(word) for word in words)
        case Form.PAST:
            passive = words[:1] and Form.PAST in forms(words[0]) and _is_be(own, found.string)
            return not passive and following != "by"
        case _:
            return False


def _is_be(own: Head, text: str) -> bool:
    return text[: own.end].split()[-1].lower() in ("was", "were", "got", "been")


def has_verb(clause: str) -> bool:
    """Whether any word of `clause` can be a verb."""
    return any(is_verb(word) for word in WORD.findall(clause)) or bool(
        re.search(r"\w'(?:m|s|re|ve|ll|d)\b", clause)
    )
