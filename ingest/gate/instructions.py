"""Tells statements from instructions to a model: what is remembered must never give orders.

A fact is a declarative sentence in the third person. Text that speaks to the model itself, asks for
its prompt, sets aside its rules, dresses up as a system message or orders what a reply must hold
doesn't belong in a store that is read into prompts.
"""

from __future__ import annotations

import re
import unicodedata

from ingest.extract.lexicon import Form, forms, is_verb, noun

_RULES = (
    r"(?:instructions?|prompts?|rules?|directions?|directives?|guidelines?|guardrails?|polic(?:y|ies)|restrictions?|constraints?"
    r"|programming|training|safety|filters?|context|conversations?|messages?|orders|commands?|limitations?|protocols?|principles|knowledge)"
)
_REPLY = r"(?:response|reply|replies|responses|answers?|output|solution|implementation|completion)"

_PATTERNS = tuple(
    re.compile(pattern, re.IGNORECASE | re.VERBOSE)
    for pattern in (
        # setting rules aside
        rf"""\b(?:ignor(?:e|es|ing)|disregard(?:s|ing)?|forget(?:s|ting)?|bypass(?:es|ing)?|overrid(?:e|es|ing)|overrul(?:e|es|ing)
            |drop|discard|violat(?:e|es|ing)|break|breaks|circumvent|supersedes?
              |do[ ]not[ ](?:follow|obey)|don't[ ](?:follow|obey)|stop[ ]following)\b
            [^.!?\n]{{0,40}}\b(?:all|any|every|previous|prior|above|earlier|preceding|former|your|system|original|initial|openai\w*|following|these|the)\b
            [^.!?\n]{{0,40}}\b{_RULES}\b""",
        r"\b(?:ignore|disregard|forget)[ ](?:everything|all|anything|what)\b",
        # giving the model another role
        (
            r"\b(?:you(?:'re|[ ]are|[ ]will|'ll|[ ]must|[ ]shall)?)[ ](?:now|going[ ]to|act(?:ing)?"
            r"|be|play|behave|respond|answer|always|never|pretend|roleplay"
            r"|simulate|about[ ]to|only|not|no[ ]longer|reply|speak|have[ ]to|must)\b(?=.*\b(?:you"
            r"|your|as|like|ai|assistant|bot|model|gpt|respon\w+|repl\w+|answer\w*|prompt\w*|question\w*)\b)"
        ),
        (
            r"\byou(?:'re|[ ]are)[ ](?:an?|the)[ ](?:[\w-]+[ ]){0,4}(?:ai|assistant|bot|chatbot"
            r"|model|llm|gpt|expert|generator|terminal|interpreter|translator|simulator)\b"
        ),
        (
            r"\b(?:act|acts|behave|respond|pose|speak|write|answer|reply|serve|function"
            r"|operate)[ ](?:exactly[ ])?(?:as|like)[ ](?:an?|my|if|the|though"
            r"|you)\b(?!.*\bfor[ ]a[ ]living)"
        ),
        (
            r"\b(?:pretend|imagine|assume|suppose|roleplay|role-play|simulate"
            r"|hypothetical\w*)\b.{0,40}\b(?:you|your|to[ ]be|ai|character|persona|world|reality"
            r"|scenario)\b"
        ),
        (
            r"\bfrom[ ](?:now|this[ ](?:moment|point))[ ]on(?:wards?)?,?[ ](?:you|your|every|all"
            r"|act|answer|respond|reply|assistant|we|refer|in)\b"
        ),
        (
            r"\b(?:assistant|chatgpt|gpt-?\d?|ai|llm|language[ ]model|chatbot)[ ](?:now[ ]"
            r"|always[ ]|never[ ]|that[ ])*(?:acts?|must|will|should|shall|is[ ]now|has[ ]no"
            r"|can[ ]do|does[ ]not[ ]have|pretends?)\b"
        ),
        # taking its limits away
        (
            r"\bjailbr(?:eak|oken)\w*|\bdo[ ]anything[ ]now\b|\b(?:developer|god|debug"
            r"|admin(?:istrator)?|dan|root|sudo)[ ](?:mode|override)\b|\bun(?:filtered|censored"
            r"|restricted|restrained)\b"
        ),
        (
            r"\b(?:no|without|free[ ]of|not[ ](?:bound|limited|restricted)[ ]by"
            r"|any)[ ](?:any[ ])?(?:\w+[ ](?:or[ ])?){0,2}(?:restrictions|limitations|filters"
            r"|filtering|censorship|moral\w*|ethic\w*|guidelines|warnings|disclaimers"
            r"|content[ ]polic\w+)\b"
        ),
        (
            r"\b(?:immoral|amoral|unethical|illegal)\b.{0,80}\b(?:respon\w+|answer\w*|request\w*"
            r"|prompt\w*|question\w*|repl\w+|character|content|information)\b|\bnever[ ](?:refuse"
            r"|refuses|decline|reject|say[ ]no)\b|\bcan(?:not|'t|[ ]not)[ ]refuse\b"
        ),
        (
            r"\bstay[ ](?:in|as)[ ](?:the[ ])?character\b|\b(?:openai|content)(?:'s)?[ ]polic(?:y"
            r"|ies)\b|\b(?:nsfw|18\+|malicious[ ]ai|evil[ ](?:ai|bot|assistant))\b"
        ),
        # asking for the prompt
        rf"""\b(?:reveal|show|print|output|repeat|display|disclose|tell|give|encode|translate|write|spell|summari[sz]e|recite|leak|return|dump|what)\b
            .{{0,50}}\b(?:system|initial|initiali[sz]ation|original|hidden|secret|developer|your
              |previous|above|internal)[ _](?:\w+[ _])?
            (?:{_RULES}|configuration|string|message|setup)\b""",
        (
            r"\b(?:system|developer|initial)[_ ](?:prompt|message|instructions?|configuration)\b"
            r"|\b(?:the[ ])?text[ ]above\b|\byou[ ](?:were[ ])?(?:told|supposed|given|instructed"
            r"|programmed|trained)\b|\bmy[ ](?:system[ ])?instructions[ ]are\b"
        ),
        # posing as another voice
        r"(?:^|\n)\s*(?:\[|<|\#{1,3}|\*\*|\$)?\s*(?:system|assistant|developer|user|human|ai|instructions?|rules)\s*(?:\]|>|\*\*)?\s*[:=]",
        (
            r"<\|?(?:im_start|im_end|system|endoftext|user|assistant)\|?>|\[/?(?:inst|sys|system)\]"
            r"|<</?sys>>|\bbegin[ ]system\b|</?(?:tool|function)_?call"
        ),
        r"\bsystem[ ](?:instruction|override|update|alert|notice)s?\b",
        # ordering what the reply must hold
        (
            rf"\b(?:in|into|to|within|of|for|with|enhance|modify|optimi[sz]e|your|every|all|each|end"
            rf"|start|begin|refine|boost|elevate|improve)[ ](?:your|the|all|every|each|any|this|its"
            rf"|my)?[ ]?(?:\w+[ ])?{_REPLY}\b(?!.*\b(?:email|letter|exam|quiz)\b)(?=.*)"
        ),
        (
            r"^(?:[\w ,]+,[ ])?(?:only[ ]|just[ ]|simply[ ]|always[ ]|instead[ ]"
            r"|please[ ])*(?:respond|reply|answer|say|output|print|repeat|type|write|translate|end"
            r"|start|begin|finish)\b.{0,30}(?:[\"“'<{\[]|\bwith\b|\bonly\b|\bexactly\b"
            r"|\bin[ ](?:json|base\d+|emoji|english)\b)"
        ),
        # keeping something from the user; acting behind their back
        (
            r"\b(?:do[ ]not|don't|never|without)[ ](?:tell(?:ing)?|inform(?:ing)?|alert(?:ing)?"
            r"|mention(?:ing)?|reveal(?:ing)?|notify(?:ing)?|let(?:ting)?)\b.{0,30}\b(?:the[ ]user"
            r"|anyone|them|user|human|this[ ]instruction)\b"
        ),
        (
            r"\b(?:send|post|upload|forward|email|exfiltrate|transmit|leak|copy"
            r"|transfer)\b.{0,60}\b(?:https?://|api[ ]?keys?|passwords?|credentials|tokens?"
            r"|chat[ ]history|conversation|contacts|all[ ](?:user|customer|patient)\w*)"
        ),
        (
            r"\b(?:run|execute|invoke|call)[ ](?:the[ ]|this[ ]|following[ ]|a[ ])*(?:shell|bash"
            r"|command|script|code|tool|function|payload)\b"
        ),
        r"\b(?:code|snippet)[ ](?:excerpt|snippet|block|segment|fragment|sample|section)\b|```",
        (
            r"\bmemory[ ](?:update|override)\b|\b(?:remember|store"
            r"|save)[ ](?:this[ ])?(?:permanently|forever|as[ ](?:a[ ])?(?:fact|rule))\b"
        ),
    )
)
_POLITE = re.compile(
    r"^(?:(?:please|kindly|now|then|next|first|instead|also|just|simply|always|never|immediately"
    r"|\w+ly|urgent|important|critical)\b[ ,:!]*)+",
    re.IGNORECASE,
)
_INVISIBLE = re.compile(r"[\u200b-\u200f\u2060-\u2064\ufeff\u00ad\U000e0000-\U000e007f]")


def is_instruction(text: str) -> bool:
    """Whether `text`, proposed as a fact, is an instruction rather than a statement."""
    return addresses_the_model(text) or _is_imperative(_plain(text))


def addresses_the_model(text: str) -> bool:
    """Whether any of `text` sets aside rules, gives the model a role, or asks for its prompt."""
    if len(_INVISIBLE.findall(text)) > 3:  # hidden text
        return True
    plain = _plain(text)
    return any(pattern.search(plain) for pattern in _PATTERNS)


def _plain(text: str) -> str:
    return _INVISIBLE.sub("", unicodedata.normalize("NFKC", text)).replace("’", "'")


def _is_imperative(text: str) -> bool:
    """Whether `text` begins with a command: "Verify the data", "Please suggest a hotel"."""
    start = text.lstrip(" \"'“*-#>")
    polite = _POLITE.match(start)
    words = re.findall(r"[^\W\d_]+(?:['-][^\W_]+)*", start[polite.end() :] if polite else start)
    if len(words) < 2:
        return False
    first, second = words[0].lower(), words[1].lower()
    if first in ("don't", "do") and (first == "don't" or second == "not"):
        return True
    if Form.BASE not in forms(first) or first in _NEVER_COMMANDS:
        return False
    if polite and polite[0].lower().startswith(("please", "kindly")):
        return True
    if noun(first) is None and (second in _OBJECTS or second.endswith("ing")):
        return True
    return not is_verb(second) and second in _OBJECTS


_NEVER_COMMANDS = frozenset(
    """
    will can may must would could should might have has had am are is was were while even like back
    except right first long out well over down up own better last next second research while zip
    """.split()
)
_OBJECTS = frozenset(
    """
    a an the this that these those my your our his her their its all any every each some me us them
    it up out for to with about at in into on from if as exactly only nothing everything
    """.split()
)
