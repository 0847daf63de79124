"""Detection of instructions to a model, which must not be stored as facts.

A fact is a declarative sentence in the third person. Text that addresses the model, asks for its
prompt, overrides its rules, poses as a system message or prescribes a reply doesn't belong in
memories that become part of prompts.
"""

from __future__ import annotations

import re

from ingest.gate.attacks import START, is_attack, plain
from semantic_memory.domain.english.words import Form, forms, is_verb, noun
from semantic_memory.domain.patterns import regex

_REPLY = r"(?:response|reply|replies|responses|answers?|output|solution|implementation|completion)"

_ORDERS = tuple(
    regex(pattern, re.IGNORECASE)
    for pattern in (
        # prescribing a reply
        (
            rf"\b(?:in|into|to|within|of|for|with|enhance|modify|augment|optimi[sz]e|end|start"
            rf"|begin|refine|boost|elevate|improve|reverse) (?:your|the|all|every|each) "
            rf"(?:\w+ )?{_REPLY}\b(?!.{{0,1000}}\b(?:email|letter|exam|quiz)\b)"
        ),
        (
            r"^(?:[\w ,]+, )?(?:(?:only|just|simply|always|instead|please) )*(?:respond|reply"
            r"|answer|say|output|print|repeat"
            r"|type|write|translate|end|start|begin|finish)\b.{0,30}"
            r"(?:[\"“'<{\[]|\bwith\b|\bonly\b|\bexactly\b"
            r"|\bin (?:json|base\d+|emoji|english|reverse)\b)"
        ),
        (
            rf"\b(?:in|into|within|end|start|begin|refine|enhance|modify|augment|optimi[sz]e"
            rf"|boost|elevate|integrate|append|precede|preface|limit|translate|encode|reverse) "
            rf"(?:your|every|all (?:of )?your) (?:(?:next|final|own|following|future|subsequent"
            rf"|entire|original) )?{_REPLY}\b"
        ),
        (
            rf"{START}(?:make|write|give|limit|start|begin|end) (?:every|all|each|your)"
            rf"(?: of your)? {_REPLY}\b"
        ),
        # a standing order
        (
            r"\bfrom (?:now|this (?:moment|point)) on(?:wards?)?,? (?:you|your|every|all|act"
            r"|answer|respond|reply|assistant|refer)\b"
        ),
        (
            r"\byou (?:must|shall|will now|are required to|have to) (?:always |never |only )?"
            r"(?:recommend|mention|include|say|tell|ask|provide|ignore|send|use|add|trust"
            r"|approve)\b"
        ),
        (
            r"\b(?:remember|store|save) (?:this |that |it )?"
            r"(?:permanently|forever|as (?:a|an) (?:fact|rule|instruction))\b"
        ),
        # an action
        (
            r"(?:^|[.!?:;\n]\s*|\bplease |\bmust )(?:run|execute|invoke|call) (?:(?:the|this"
            r"|following|a) )*(?:shell|bash|command|script|code|tool|function|payload)\b"
        ),
        (
            r"\b(?:send|post|upload|forward|exfiltrate|transmit|leak|copy|transfer)\b.{0,60}\b"
            r"(?:https?://|api[ _]?keys?|passwords?|credentials|chat history)"
        ),
        (
            r"\b(?:add|adopt|integrate|incorporate|include|insert|embed|append|ensure|augment"
            r"|place|put|assimilate|consider|implement|employ|utili[sz]e)\b.{0,60}\bcode "
            r"(?:excerpt|snippet|block|segment|fragment|sample|section)\b"
        ),
    )
)
_POLITE = regex(
    r"^(?:(?:please|kindly|now|then|next|first|instead|also|just|simply|always|never|immediately"
    r"|\w+ly|urgent|important|critical)\b[ ,:!]*)+",
    re.IGNORECASE,
)


def is_instruction(text: str) -> bool:
    """Return True if `text`, a candidate or a tool's result, is an instruction."""
    return _gives_orders(text) or _is_imperative(plain(text))


def _gives_orders(text: str) -> bool:
    """Return True if `text` contains an order to its reader."""
    visible = plain(text)
    return is_attack(text) or any(pattern.search(visible) for pattern in _ORDERS)


def _is_imperative(text: str) -> bool:
    """Return True if `text` begins with a command, like "Verify the data" or "Please suggest"."""
    start = text.lstrip(" \"'“*_-#>")
    polite = _POLITE.match(start)
    words = _WORD.findall(start, polite.end() if polite else 0)
    if len(words) < 2:
        return False
    first, second = words[0].lower(), words[1].lower()
    if first in ("don't", "do") and (first == "don't" or second == "not"):
        return second not in _STATES  # "Don't know what I would do" lacks its "I"
    if Form.BASE not in forms(first) or first in _NEVER_COMMANDS:
        return False
    if polite and polite[0].lower().startswith(("please", "kindly")):
        return True
    if _STATEMENT.match(start):
        return False
    if noun(first) is None and (
        second in _OBJECTS or (second.endswith("ing") and not _has_finite(words[2:4]))
    ):
        return True
    return not is_verb(second) and second in _OBJECTS


def _has_finite(words: list[str]) -> bool:
    return any(
        word.lower() in ("is", "are", "was") or forms(word) in ({Form.THIRD}, {Form.PAST})
        for word in words
    )


# "Budget for Q2 is 90k", "rent for the shop is 1450"
_STATEMENT = regex(
    r"[a-z]+ (?:for|in|on|at|with) (?:the |my |our )?[\w'-]+ (?:is|are|was|were) "
    r"(?:(?:now|about|at|on|up to) )*(?:\W?\d|not\b)",
    re.IGNORECASE,
)
_WORD = regex(r"(?<!\w)[^\W\d_]+(?:['-][^\W_]+)*(?!\w)")  # no part of a name like "invalid_at"
_STATES = frozenset("know think care mind need want have like even really feel".split())
_NEVER_COMMANDS = frozenset(
    """
    will can may must would could should might have has had am are is was were while even like back
    except right first long out well over down up own better last next second research while zip
    still time okay fine blue
    """.split()
)
_OBJECTS = frozenset(
    """
    a an the this that these those my your our his her their its all any every each some me us them
    it up out for to with about at in into on from if as exactly only nothing everything
    """.split()
)
