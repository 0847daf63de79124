"""Detection of attacks: text that tries to take over a model.

An attack overrides rules, gives the model a role, asks for its prompt, poses as another voice, or
acts behind the user's back. Every pattern requires an address (an order, a "you", a name for the
model), because "ignore", "rules" and "pretend" alone are ordinary words.
"""

from __future__ import annotations

import re
import unicodedata

_RULES = (
    r"(?:instructions?|prompts?|rules?|directions?|directives?|guidelines?|guardrails?"
    r"|polic(?:y|ies)|restrictions?|constraints?|programming|training|safety|filters?|context"
    r"|conversations?|messages?|orders|commands?|limitations?|protocols?|principles|knowledge"
    r"|inputs?)"
)
_MODEL = (
    r"(?:assistant|chat ?gpt|gpt-?\w*|llm|(?:ai )?language model|chat ?bot|ai (?:assistant"
    r"|model|bot|system|agent)"
    r"|dan)"
)
_REPLY = r"(?:response|reply|replies|responses|answers?|output|completion)"
_ORDER = (  # start of an order: of a sentence, or after words like "please" or "you must"
    r"(?:^|[.!?:;\n\]\"'*>–]\s*|\b(?:please|now|you (?:will|can|must|should|shall|are to"
    r"|have to|need to)"
    r"|you'll|i want you to|i need you to)\s+(?:now |always |only |just )?)"
)
_LINE = r".{0,1000}"  # bounded, or each start of a match would scan the rest of the line
_ROLES = (
    r"(?:expert|generator|terminal|interpreter|translator|simulator|compiler|console"
    r"|prompt engineer)"
)
_ACTS = (
    r"(?:act|respond|answer|reply|pretend|roleplay|role-play|simulate|behave|comply|obey|refuse"
    r"|output|impersonate)"
)

_PATTERNS = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        # overriding rules
        (
            r"\b(?:ignor(?:e|es|ing)|disregard(?:s|ing)?|bypass(?:es|ing)?|overrid(?:e|es"
            r"|ing)|overrul(?:e|es|ing)|circumvent"
            r"|do not (?:follow|obey)|stop following)\b[^.!?\n]{0,40}"
            rf"\b(?:all|any|every|previous|prior|above|earlier|preceding|former|your|system"
            rf"|original|initial|openai\w*|following|these|the)\b[^.!?\n]{{0,40}}\b{_RULES}\b"
        ),
        (
            r"\b(?:forget(?:s|ting)?|break(?:s|ing)?|drop|discard|violat(?:e|es|ing)"
            r"|supersedes?)\b[^.!?\n]{0,30}"
            rf"\b(?:your|all|previous|prior|preceding|above|earlier|system|openai\w*|original"
            rf"|initial)\b[^.!?\n]{{0,30}}\b{_RULES}\b"
        ),
        (
            r"\b(?:ignore|disregard|forget) (?:everything|all|anything|what)\b(?=[^.!?\n]{0,40}\b"
            r"(?:you|above|before|previous\w*|prior|earlier|told|instructed|until)\b)(?! of "
            r"(?:us|you))"
        ),
        # giving the model another role
        (
            rf"\byou(?:'re| are to| will(?: now)?|'ll| must| shall| should| are going to"
            rf"| are about to)(?: now| only| always| never| also| immediately| not)* {_ACTS}\b"
            rf"(?! (?:quickly|fast|soon))"
        ),
        (
            rf"\byou are now\b.{{0,60}}\b(?:a|an|in|the|{_MODEL}|going to|no longer|free|named"
            rf"|called|acting|operating)\b(?={_LINE}\b(?:you|your|respon\w+|answer\w*|repl\w+|output"
            rf"|commands?|request\w*)\b)"
        ),
        rf"\byou(?:'re| are) (?:an?|the|no longer an?|not an?) (?:[\w-]+ ){{0,4}}{_MODEL}\b",
        (
            rf"(?:^|\n)[^\w\n]*you(?:'re| are| will be)(?: now)? (?:an?|the) (?:[\w-]+ ){{0,4}}"
            rf"{_ROLES}\b"
        ),
        (
            rf"{_ORDER}(?:act|behave|respond|pose|answer|reply|function|operate|serve) "
            rf"(?:exactly |only |strictly )?(?:as|like) (?:an?|my|if|though|the) (?={_LINE}\b(?:you"
            rf"|your|prompt|ai|question|answer|reply|respon\w+|command\w*|only)\b)"
        ),
        (
            rf"{_ORDER}(?:pretend|imagine|assume|suppose|roleplay|role-play|simulate) (?:that )?"
            rf"(?:you(?:'re| are| were| have)|to be|being)\b(?={_LINE}\b(?:ai|{_MODEL}|character"
            rf"|persona|restrict\w*|rules|question\w*|answer\w*|respon\w+|prompt\w*|allowed"
            rf"|anything)\b)"
        ),
        (
            rf"\b(?:hypothetical|fictional) (?:response|ai|world|scenario|dialogue)\b(?={_LINE}\b"
            rf"(?:you|your|ai|{_MODEL})\b)"
        ),
        (
            r"\bfrom (?:now|this (?:moment|point)) on(?:wards?)?,? (?:you(?:'re| are| will|'ll"
            r"| must| shall| have| act| answer| respond| only| need)|act|pretend|ignore"
            r"|respond as|i am your|your name|every (?:answer|response|reply))\b"
        ),
        (
            rf"\b{_MODEL}(?: now| always| never| that)* (?:must|shall|is now|has no|can do"
            rf"|does not have|pretends?|will (?:now|always|never|not|only|answer|respond|comply"
            rf"|obey|ignore|act))\b"
        ),
        (
            rf"{_ORDER}(?:you )?(?:will )?(?:play|be|become|take on|assume|adopt) (?:the |a |an "
            rf"|two |2 )?(?:role|character|persona|entity|entities|roles|personas)\b"
        ),
        # removing its limits
        (
            r"\bjailbr(?:eak|oken)\w*\b(?! (?:(?:my|the|an?|your|his|her) )?(?:i?phone|i?pad|ps\d"
            r"|switch|console|device|kindle))(?<!a jailbroken)|\bdo anything now\b|\b(?:developer"
            r"|god|debug|admin(?:istrator)?|dan|root|sudo)[ _](?:mode|override)\b"
        ),
        (
            rf"\bun(?:filtered|censored|restricted|restrained)\b(?:,? (?:and|or) \w+)? "
            rf"(?:{_MODEL}|ai|mode|respon\w+|answers?|version|content|output|access|chat\w*"
            rf"|information)\b"
        ),
        (
            r"\b(?:no|without|free of|free from|not (?:bound|limited|restricted) by) (?:any )?(?:"
            r"(?!dietary|travel|age|time|budget|size)\w+ (?:or |and )?){0,2}(?:restrictions"
            r"|limitations|filters|filtering|censorship|moral\w*|ethic\w*|guidelines|disclaimers"
            r"|content polic\w+)\b(?=.{0,200}\b(?:you|ai|respon\w+|answer\w*|request\w*|prompt\w*"
            r"|character)\b)(?<!sugar free from)"
        ),
        (
            r"\b(?:immoral|amoral|unethical)\b.{0,80}\b(?:respon\w+|answer\w*|request\w*"
            r"|prompt\w*|question\w*|repl\w+|character|content|information)\b"
        ),
        (
            r"\b(?:never|cannot|can't|can not) (?:refuse|decline|reject)s?\b.{0,30}\b(?:requests?"
            r"|answers?|prompts?|tasks?|questions?|respond|reply|commands?|orders?|user|direct)\b"
            r"|\bnever refuse\b"
        ),
        (
            r"\bstay (?:in|as) (?:the )?character\b|\b(?:openai)(?:'s)?(?: content)? polic(?:y"
            r"|ies)\b|\b(?:malicious|evil) (?:ai|bot|assistant)\b"
        ),
        # asking for the prompt
        (
            r"\b(?:reveal|show|print|output|repeat|display|disclose|tell|give|encode"
            r"|translate|spell|summari[sz]e|recite|leak|return|dump|what (?:is|are|was"
            r"|were))\b.{0,50}"
            r"\b(?:system|initial|initiali[sz]ation|hidden|developer|internal|your (?:"
            r"(?:system|initial|original|hidden|secret|exact|full|own) )?)[ _]?"
            r"(?:instructions?|prompts?|rules|directives?|guidelines?|configuration"
            r"|initiali[sz]ation string)\b"
        ),
        (
            r"\b(?:initiali[sz]ation string)\b|\bsystem[_ ](?:prompt|message|instructions?)\b|\b"
            r"(?:the )?text above\b"
        ),
        (
            r"\byou(?:'ve| have)? (?:were|been|are) (?:not |originally |initially )?(?:told|given"
            r"|instructed|programmed|trained|supposed)\b(?=.{0,30}\b(?:to|by|initially|before|not"
            r"|at the)\b).{0,60}\b(?:this conversation|initially|instructions?|rules|tell me"
            r"|reveal|openai|system|by your|follow|not to answer)\b|\bwere you (?:told|given"
            r"|instructed)\b.{0,30}\b(?:before|initially|at the (?:start|beginning))\b"
            r"|\bare you not (?:supposed|allowed) to\b|\bmy (?:system )?instructions are\b"
        ),
        # posing as another voice
        (
            r"(?:^|\n)[^\S\n]*(?:\[|<|\#{1,3}|\*\*|\$)?\s*(?:system|assistant|developer|user|human"
            r"|ai)\s*(?:\]|>|\*\*)?\s*:(?!//)"
        ),
        (
            r"(?:^|\n)[^\S\n]*(?:\[|<|\#{2,3}|\*\*)\s*(?:instructions?|rules)\s*(?:\]|>|\*\*)?\s*:"
            rf"(?={_LINE}\b(?:you|your|respond|answer)\b)"
        ),
        (
            r"<\|?(?:im_start|im_end|system|endoftext|user|assistant)\|?>|\[/?(?:inst|sys"
            r"|system)\]|<</?sys>>|\bbegin system\b|</?(?:tool|function)_?call"
        ),
        (
            r"\bsystem (?:instruction|override)s?\b|(?:^|\n)[^\w\n]*system (?:update|alert|notice"
            r"|note)s?\s*[:!\]]"
        ),
        # ordering what the reply must hold
        (
            rf"\b(?:in|into|within|end|start|begin|refine|enhance|modify|augment|optimi[sz]e"
            rf"|boost|elevate|integrate|append|precede|preface|limit|translate|encode|reverse) "
            rf"(?:your|every|all (?:of )?your) (?:(?:next|final|own|following|future|subsequent"
            rf"|entire|original) )?{_REPLY}\b"
        ),
        (
            rf"{_ORDER}(?:make|write|give|limit|start|begin|end) (?:every|all|each|your)"
            rf"(?: of your)? {_REPLY}\b"
        ),
        # keeping something from the user; acting behind their back
        (
            r"\b(?:do not|don't|never|without) (?:tell(?:ing)?|inform(?:ing)?|alert(?:ing)?"
            r"|mention(?:ing)?|reveal(?:ing)?|notify(?:ing)?|let(?:ting)?)\b.{0,30}\b(?:the "
            r"(?:user|human|customer|operator|owner)|this instruction|these instructions)\b"
        ),
        (
            rf"{_ORDER}(?:send|post|upload|forward|email|exfiltrate|transmit|leak"
            rf"|transfer)\b.{{0,60}}\b(?:to https?://|api[ _]?keys?|passwords?|credentials|"
            rf"(?:access |auth )tokens?|chat history|(?:the|this|our|my|entire|full|whole"
            rf"|all) conversation|all (?:user|customer|patient)\w*)"
        ),
        (
            r"\bmemory (?:update|override)\s*[:!]|\b(?:remember|store|save) (?:this |that |it )?"
            r"(?:permanently|forever|as (?:a|an) (?:fact|rule|instruction))\b"
        ),
    )
)
_SPACES = re.compile(r"\s{2,}")
_INVISIBLE = re.compile(r"[\u200b\u200e\u200f\u2060-\u2064\ufeff\u00ad\U000e0000-\U000e007f]")
# Used to write hidden letters or to break up words; chat programs put them beside list items.
_HIDDEN = re.compile(r"[\U000e0020-\U000e007f]|(?<=\w)[\u200b\u2060-\u2064\ufeff]")
_MOST_HIDDEN = 3
_PIECE = 1_000  # characters normalised at once; sorting the marks on a letter takes quadratic time


def is_attack(text: str) -> bool:
    """Return True if `text` tries to take over a model that reads it."""
    if len(_HIDDEN.findall(text)) > _MOST_HIDDEN:
        return True
    visible = plain(text)
    return any(pattern.search(visible) for pattern in _PATTERNS)


def plain(text: str) -> str:
    """Normalise `text`: NFKC, straight apostrophes, single spaces and line ends.

    Removes invisible characters. Long runs of spaces would make the patterns quadratic.
    """
    pieces = (text[start : start + _PIECE] for start in range(0, len(text), _PIECE))
    same = "".join(unicodedata.normalize("NFKC", piece) for piece in pieces)
    visible = _INVISIBLE.sub("", same).replace("’", "'")
    return _SPACES.sub(lambda found: "\n" if "\n" in found[0] else " ", visible)
