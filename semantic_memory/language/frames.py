"""Find requests to work on a text, and frames in which nothing is meant: fiction, dreams, samples.

What follows a request to work on a text is the text, even without a colon; if the request points
back ("translate that"), what stands before it is too.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Literal

from semantic_memory.domain.english.commands import is_command
from semantic_memory.domain.patterns import deferred, regex
from semantic_memory.language.enclosures import Cut, word_class

_PRONOUN_LINE = regex(  # "make it more formal", on a line above a text
    r"[\w-]+\s+(?:\w+\s+)?(?:it|this|that|these)\b[^.!?;:\n]{0,60}\Z", re.IGNORECASE
)
_SENTENCE = regex(r"[^\s.!?…][^.!?…\n]*(?:[.!?…](?!\s|\Z)[^.!?…\n]*)*[.!?…]*")
_CLAUSE_START = r"(?:\A|[,;:—–-][ ]|\b(?:and|then|but)[ ])"


def _one_of(*names: str) -> str:
    """Return the source of a pattern of any word of some classes, the longest first."""

    def source() -> str:
        every = sorted(word_class(*names), key=lambda one: (-len(one), one))
        return f"(?:{'|'.join(map(re.escape, every))})"

    return deferred(source)


_ASKING = (
    r"(?:(?:please|pls|plz|ok|okay|so|now|then|hey|hi|hello|next|first|just|kindly|quickly|also"
    r"|(?:can|could|would|will) (?:you|u)|you|u|help me|help|let['’]?s|let us|try to"
    r"|go|and|i (?:want|need) (?:you|u) to|i['’]?d like you to|i would like you to|to|mind"
    r"|chatgpt|claude|assistant)[,]?\s+){0,8}"
)
_REWORK = regex(rf"{_CLAUSE_START}{_ASKING}(?P<verb>{_one_of('rework')}(?:ing)?)\b", re.IGNORECASE)
_WORK = regex(
    rf"(?:\A|[;:—–-][ ]|(?:,|\band\b|\bthen\b)[ ](?=please|then|now|can|could|also)){_ASKING}"
    rf"{_one_of('work')}\b(?P<object>[^.!?]{{0,120}})",
    re.IGNORECASE,
)
_TEXT = regex(rf"\b{_one_of('texts', 'fiction')}\b", re.IGNORECASE)
_DEICTIC = regex(
    r"\A\s*(?:(?:me|us|all|on|to|over|through|the|of|for|if|whether|what|in|is)\s+){0,4}"
    r"(?:this|that|these|those|above|below|following)\b(?!\s+(?:i|we)\b)",
    re.IGNORECASE,
)
_POINTED = regex(
    r"\A\s*(?:(?:it|this|that|the above|these|those|them|above|below|the following)\b"
    r"|(?:in)?to\b|\W*\Z)",
    re.IGNORECASE,
)
_FOLLOWS = regex(r"\b(?:the (?:following|above|below)|as follows)\b|\bbelow\W*\Z", re.I)
_SEPARATED = regex(r"\s[-–—]+\s")
_ABOVE = regex(
    rf"\b(?:the\s+)?(?:above|previous|preceding)\s+{_one_of('texts')}\b"
    rf"|\b{_one_of('texts')}\s+above\b",
    re.IGNORECASE,
)
_NAMING = regex(  # "regex that matches ..."
    rf"\W*(?:(?:a|an|the)\s+)?{_one_of('texts')}\s+"
    r"(?:(?:that|which)\s+(?:match\w*|says?|means?|contains?|reads?))\s",
    re.IGNORECASE,
)
_TURNED = regex(  # "turn this into emojis - ..."
    rf"\A{_ASKING}[\w-]+(?:\s[\w-]+){{0,2}}?\s(?:this|these|the following|what follows)\b"
    r"[^.?!]{0,60}?\s[-–—]+\s",
    re.IGNORECASE,
)
_MENTIONED = regex(
    r"\b(?:for|of|in|from|with|to|on|about)\s+I(?:['’]\w+)?\s"
    rf"|\b{_one_of('texts')}\s+(?:like|such as|as in)\s+(?:I|We|My|Our|The)(?:['’]\w+)?\s"
    r"|\b(?:who|that|which)(?:['’]d|['’]ll| would| will| might| could)?\s+"
    r"(?:says?|said|writes?|wrote)\s+I\b"
    r"|\b(?!(?:[Ii]t|[Tt]hat|[Tt]his|[Ll]ife|[Tt]here)\b)\w+(?:['’]s| was| were| is| goes| went)"
    r"(?: all)? like,? (?:I|we|my)(?:['’]\w+)?\s"
)
_EMBEDDED = regex(  # a sentence that begins within another: "the date out of The bill is due"
    r"\b(?:of|in|from|for|to|with|on|about|like|is|are|does|as)"
    r" (?=(?:The|My|Our|We|You|This|There)(?:['’]\w+)? [a-z]+ )"
)
_MANNER = regex(  # "write to me in plain text" is about the answers
    r"\A\s+(?:to me|me back|in|with|without|only|always|never|briefly|like|as|everything|things)\b",
    re.IGNORECASE,
)
_FIRST = r"(?:i|we|i['’]\w+|we['’]\w+|im|ive)"
_PLAIN = (  # a word that begins no clause: "correct me when I ..." is an order
    r"(?!(?:when|whenever|if|unless|because|since|before|after|so|until|as|like|once|while|every"
    r"|what|whatever|how|everything|anything|things)\b)[\w'’-]+"
)
_SPOKEN_FOR = regex(
    rf"\b(?:in|of|for|matches|matching|that|saying|says|where|which|about how|how|say)\s+{_FIRST}\b"
    rf"|\btell(?:ing)?\s+(?:\w+\s+)?{_FIRST}\b|\A\s*(?:{_PLAIN}\s+)?{_FIRST}\s"
    rf"|\A\s*(?:{_PLAIN}\s+){{0,8}}?(?-i:I|I['’]\w+)\s",
    re.IGNORECASE,
)
_TONGUE = (
    r"(?-i:[A-Z]\w+ish|[A-Z]\w+ese|[A-Z]\w+ian|French|Dutch|German|Greek|Hindi|Thai|Czech|Arabic"
    r"|Icelandic|Korean|Latin|Welsh|Hebrew|Urdu|Bengali|Swahili|Danish)"
)
_PHRASE_END = regex(
    r"\b(?:for|about|on|with|to|from|by|that|so|because|when|if|whether|who|where|and|or|but|in)\b|[,;:]"
)
_WORDING = regex(
    r"\bhow (?:do|would|can|should|does|might) (?:[\w'’-]+ ){1,4}?"
    r"(?:say|spell|pronounce|write|phrase|translate)\b"
    rf"|\bwhat(?:'s|’s| is| does| do)\b.{{0,80}}\b(?:mean|in {_TONGUE}|translat\w+)\b"
    r"|\b(?:grammatical\w*|correct (?:english|grammar|spelling)|sound natural"
    r"|(?:is|are) it (?:correct|right|proper|okay|ok) to (?:say|write))\b",
    re.IGNORECASE,
)
_OF_WORDING = regex(  # a question or a command about the words of a message
    rf"\b(?P<which>this|that|these|those|which|the|any)\s+(?:\w+\s+)?{_one_of('wording')}\b",
    re.IGNORECASE,
)
_IN_TONGUE = regex(rf"\b(?:this|that|it|these|following)\b.{{0,40}}\bin {_TONGUE}\b")
_OUT_OF_THIS = regex(r"\b(?:of|from|with|into) (?:this|these)\s*[,;:–—-]", re.IGNORECASE)
_RECEIVED = regex(
    rf"\byou (?:have|got|received)\b[^.!?]{{0,30}}\b{_one_of('texts')}\W*\Z", re.IGNORECASE
)
_ASKS = regex(r"\W*(?:what|which|how|why|where|is|are|does|do|can|could|would)\b(?:['’]s)? ", re.I)
_NAMES_TEXT = regex(
    rf"\W*{_one_of('texts', 'fiction')}[.]\Z|\W*{_TONGUE}(?:,? please)?\?\Z",
    re.IGNORECASE,
)
_BARE_WORK = regex(
    rf"\W*(?:please )?{_one_of('work', 'rework')}(?:,? please| pls)?\Z", re.IGNORECASE
)
_VERBLESS = regex(
    rf"\A\W*(?:(?:an?|one|another|some|short|quick|funny|little)\s+){{0,2}}(?:[\w-]+\s+)?"
    rf"{_one_of('texts', 'fiction')}\s+(?:about|saying|where|in which|telling)\s",
    re.IGNORECASE,
)
_ASKED_HERE = regex(r"\b(?:in|of|with|on|about|for|to)\s+(?:here|this|these)\s*\?\Z", re.IGNORECASE)
_UNMARKED = regex(  # "make this sound posher I live in ..."
    r"\A\W*(?:please |can you |could you |pls )?[a-z]+ (?:this|these)\b[^.!?,;:]*?"
    r"\b(?!(?:and|but|so|that|because|since|when|if|as|while|before|after|until|than|what|how|where"
    r"|who|which|thing|things|way|one|ones|place|time|day)\b)[a-z]+ I(?:['’]\w+)? [a-z]+",
)
_DET = r"(?:my|our|a|an|the|this|that|her|his|their|one|some|another)"
_FICTION = regex(
    rf"(?:\A\W*|[,;:—–-] ?)(?:as|for|from|during|in|inside|per)\s+{_DET}(?:\s+[\w&-]+){{0,3}}?\s+"
    rf"{_one_of('fiction')}(?:\s*[,;:—–-]|\s+(?:i|i['’]\w+|im|ive|my|we|you|he|she|they|there|that"
    r"|where|which|last|about|by|of|and|am|is|was|has|had|lives?|works?)\b)"
    rf"|\A\W*(?:in|inside|during)\s+{_DET}(?:\s+[\w-]+){{0,2}}?\s+{_one_of('invented')}\s+"
    r"(?:(?-i:[A-Z])|always|never|please|now|then|suddenly|everyone|nobody)"
    rf"|\b(?:in|inside)\s+{_DET}(?:\s+[\w-]+){{0,3}}?\s+{_one_of('invented')}\b(?![ -]\w)"
    rf"|\b(?:in|inside)\s+{_DET}(?:\s+[\w-]+){{0,3}}?\s+{_one_of('invented')}\s+"
    r"(?:i|i['’]\w+|im|ive|my|we|you|he|she|they|there|that|where|last|and)\b"
    rf"|\b{_DET}(?:\s+[\w&-]+){{0,3}}?\s+{_one_of('roles')}\b"
    r"|\b(?:dreamt|dreamed|dreaming)\s+(?:that|about|of|i|we)\b"
    r"|\b(?:had|have|having)\s+(?:a|this|the|another)(?:\s+\w+){0,3}\s+(?:dream|nightmare)s?\b"
    r"|\bonce upon a time\b|\blorem ipsum\b"
    rf"|\b{_DET}(?:\s+[\w-]+)?\s+{_one_of('invented')}\s+(?:where|in which)\b"
    rf"|\A\W*(?:\w+\s+){{0,3}}(?:dream|nightmare)\s+(?:last|this|again|the other)\b"
    rf"|\b{_one_of('made_up')}\s+(?:\w+\s+)?{_one_of('samples')}\b",
    re.IGNORECASE,
)
_SUPPOSED = regex(
    rf"\A{_ASKING}(?:for (?:example|instance)|e\.g\.|if i (?:were|was|had)|had i|were i)\b"
    r"|\bif (?:i|we|you|he|she|they|some(?:body|one)) (?:said|told|wrote|claimed|texted|answered)\b"
    r"|\b(?:imagine|suppose)\s+(?:that\s+)?(?:i|you|we)\b(?<!\bi imagine i)",
    re.IGNORECASE,
)
_PLAYED = regex(
    rf"\A\W*{_ASKING}(?:pretend|imagin(?:e|ing)|suppos(?:e|ing)|assum(?:e|ing)|what if"
    r"|hypothetically|theoretically|in theory|impersonate|simulate|role-?\s?play(?:ing)?"
    r"|say (?:i'?m|i am|you'?re|you are)|act (?:as|like)"
    r"|(?:speak|talk|answer|write) (?:as|like) (?:a|an|my|if)"
    r"|play the|stay in character|in character|scene|scenario|once upon"
    r"|(?:you are|you're|youre) (?:now )?(?:playing|acting|in)|(?:i am|i'm|im) in character)\b"
    r"|\A\W*(?:you are|you're) (?-i:[A-Z][\w'’-]+)(?: (?-i:[A-Z][\w'’-]+))?\W*\Z"
    r"|\b(?:do|start|begin|try|play)\s+(?:a|some)\s+role-?\s?play"
    r"|\blet(?:'s|’s|s| us)\s+(?:say|pretend|imagine|assume|suppose|play|do a|role)",
    re.IGNORECASE,
)
_DOCUMENT_SAYS = regex(
    rf"\b(?:the|my|a|an|his|her|their|this|that|our|some)(?:\s+[\w'’-]+){{0,3}}?\s+"
    rf"{_one_of('texts', 'fiction')}\s+"
    r"(?:\w+\s+)?(?:says?|said|reads?|states?|stated|claims?)\b"
    r"|\A\W*(?:the|a|an)\s+(?:[\w-]+\s+){1,5}?reads\b"
    rf"|(?<!my )(?<!our )\b{_one_of('texts', 'fiction')}\s+"
    r"(?:on|in|at|above|over|of|by|from|under)\s+(?:[\w'’-]+\s+){1,3}"
    r"(?:says?|said|reads?|states?)\b"
    r"|\A\W*according to\s|\A\W*(?:what|which)\b[^?]{0,40}\b(?:is|are) I\b"
    r"|\b(?:her|his|their)\s+[\w-]+\s+(?:is|was|says|said|reads)\s+(?-i:I)\b",
    re.IGNORECASE,
)


def frames(text: str, whole: str) -> Iterator[Cut]:
    """Yield the cuts of requests for work on a text and of frames.

    `whole` is the message as it is, of which `text` lacks what is cut already.
    """
    sentences = [*_SENTENCE.finditer(text)]
    for place, found in enumerate(sentences):
        said, start, end = found[0], found.start(), found.end()
        if any(one.search(said) for one in (_WORDING, _DOCUMENT_SAYS, _MENTIONED)):
            yield Cut(start, end, "words talked about")
        is_last = place == len(sentences) - 1 and not whole[end:].strip()
        worked = _worked_on(said, start, is_last=is_last, behind=end)
        if worked is not None:
            yield Cut(worked, len(text), "work on a text")
            if worked < end:
                return
        goes_on = whole[end : end + 1] == "\n"
        if (
            handed := _handed_over(said, goes_on=goes_on, is_alone=said == text.strip())
        ) is not None:
            yield Cut({"here": start, "behind": end, "all": 0}[handed], len(text), "work on a text")
            return
        if (place_within := _begins_within(said)) is not None:
            yield Cut(start + place_within, end, "words talked about")
        if _FICTION.search(said) or _PLAYED.search(said):
            yield Cut(start, len(text), "fiction")
            return
        if _SUPPOSED.search(said):
            yield Cut(start, end, "supposition")


def _begins_within(said: str) -> int | None:
    """Return where words begin in a sentence that are to be written or that it talks about."""
    if _VERBLESS.match(said):
        return 0
    asked = _WORK.search(said)
    if asked and _SPOKEN_FOR.search(asked["object"]) and not _MANNER.match(asked["object"]):
        return asked.start()
    embedded = _EMBEDDED.search(said)
    return embedded.start() if embedded else None


def _handed_over(
    said: str, *, goes_on: bool, is_alone: bool
) -> Literal["here", "behind", "all"] | None:
    """Return which part of a message is the text that a sentence hands over or asks about.

    `goes_on` is True if another line follows at once, `is_alone` if the message says nothing else.
    """
    commands = is_command(said.casefold())
    if _NAMES_TEXT.match(said) or _UNMARKED.match(said):
        return "here"
    if goes_on and (_BARE_WORK.match(said) or _ASKED_HERE.search(said)):
        return "here"
    if commands and _OUT_OF_THIS.search(said):
        return "here"
    if _RECEIVED.search(said) or (goes_on and commands and _PRONOUN_LINE.match(said)):
        return "behind"
    asks = said.endswith("?") or _ASKS.match(said) is not None
    if is_alone or not (asks or commands):
        return None
    if about := _OF_WORDING.search(said):
        return "behind" if about["which"].casefold() in ("the", "any") else "all"
    return "all" if asks and _IN_TONGUE.search(said) else None


def _worked_on(said: str, start: int, *, is_last: bool, behind: int) -> int | None:
    """Return where the text begins that a sentence asks to work on; None without a request.

    A request that points, and behind which nothing stands, means what is before it.
    """
    if found := _REWORK.search(said):
        points = _POINTED.match(said[found.end() :]) is not None
        return 0 if points and is_last else start + found.start()
    if _ABOVE.search(said):
        return 0
    if found := _TURNED.search(said) or _NAMING.match(said):
        return start + found.start()
    for found in _WORK.finditer(said):
        asked = found["object"]
        if _DEICTIC.match(asked) or _FOLLOWS.search(asked):
            return 0 if is_last else start + found.start()
        if _TEXT.search(_PHRASE_END.split(asked, maxsplit=1)[0]) and not _MANNER.match(asked):
            return start + found.start() if _SEPARATED.search(asked) else behind
    return None
