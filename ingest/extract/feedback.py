"""What a user says of the assistant's work: directives, corrections, confirmations."""

from __future__ import annotations

import re

from ingest.extract.lexicon import Form, forms

_DIRECTIVE = re.compile(
    r"""^(?:please[ ,]+|from[ ]now[ ]on[ ,]+|in[ ](?:the[ ])?future[ ,]+|next[ ]time[ ,]+|and[ ]
      |but[ ]|also[ ,]+)*
    (?P<order> (?:don't|do[ ]not|always|never|stop|avoid)[ ] (?:(?!worry|mind|give[ ]up
      |hesitate|hold[ ]back|be[ ](?:afraid|discouraged|shy)|forget
      |know|care|get[ ]me)\w+) [ ].+
        | (?<=from[ ]now[ ]on[ ])\w+.+ | (?<=from[ ]now[ ]on,[ ])\w+.+
          | (?<=next[ ]time[ ])\w+.+ | (?<=next[ ]time,[ ])\w+.+ )$""",
    re.IGNORECASE | re.VERBOSE,
)
_WISH = re.compile(
    r"^I(?:'d| would)? (?:want|need|like|prefer)(?: for)? you to (?P<order>(?:always|never|not"
    r"|stop|only|use|keep|be|answer|reply|write)\b.+)$",
    re.IGNORECASE,
)
_CORRECTION = re.compile(
    r"""^(?: no[,.]?[ ](?:(?:that|it|this)
          (?!['\w]*[ ](?:sounds?|works?|helps?|is[ ](?:fine|good|all|ok)|fine|good|all
          |ok)\b)|you|the|i[ ](?:said|meant|asked))\b
        | actually,?[ ](?:it|that|the|not|i[ ](?:said|meant))\b | not[ ]\w+[,;][ ](?:but[ ])?\w+$
        | (?:nope|no),?[ ]not\b | i[ ](?:actually[ ])?(?:said|meant|asked[ ]for)\b
        | (?:that|this|it|your[ ]\w+)(?:'s|[ ]is|[ ]was|[ ]isn't|[ ]is[ ]not|'s[ ]not)[ ](?:\w+[ ])?
          (?:wrong|not[ ]right|incorrect|not[ ]correct|not[ ]what[ ]i|right[ ]either|false
            |outdated|a[ ]mistake)
        | you(?:'re|[ ]are|[ ]were)[ ](?:wrong|mistaken) | you[ ](?:got|misunderstood|missed
          |forgot|made)\b
        | that(?:'s|[ ]is|[ ]was)[ ]not\b | that[ ](?:didn't|doesn't|does[ ]not
          |did[ ]not)[ ]work )""",
    re.IGNORECASE | re.VERBOSE,
)
_EXCLAIMED = re.compile(
    r"^(?:(?:oh|hmm+|well|wait|sorry|ah|ok|okay|but|and|wow|hey)\b[ ,.!-]*)+", re.IGNORECASE
)
_CONFIRMATION = re.compile(
    r"""^(?:(?:yes|yeah|yep|great|perfect|thanks|awesome|nice|exactly|excellent|cool)\b[,.! -]*)*
    (?: (?:that|this|it)(?:'s|[ ]is|[ ]was)[ ](?:(?!not\b)\w+[ ])?(?:right|correct|perfect
      |what[ ]i[ ](?:needed|wanted|meant|was[ ]looking)|better|spot[ ]on|it)\b
      | exactly[ ]what[ ]i | (?:that|this|it)[ ](?:\w+ly[ ])?(?:(?:did[ ]it|helped)
        (?=\W*$)|worked|works|solved|fixed|did[ ]the[ ]trick)\b
      | i[ ](?:really[ ])?(?:like|love|liked|loved)[ ](?:how|the[ ]way)[ ]you\b | (?:good|great
        |nice)[ ](?:answer|job|work)\b
      | keep[ ](?:doing|using|answering|it[ ]like)\b )""",
    re.IGNORECASE | re.VERBOSE,
)


def directive(sentence: str, name: str) -> str | None:
    """A standing order to the assistant, as a fact: "The user asks the assistant to never ..."."""
    found = _DIRECTIVE.match(sentence) or _WISH.match(sentence)
    if found is None:
        return None
    order = found["order"].rstrip(" .!")
    verb = re.match(r"(?:always\s+|never\s+|do not\s+|don't\s+)?([\w']+)", order, re.IGNORECASE)
    if verb is None or Form.BASE not in forms(verb[1]):
        return None  # "Never heard of it" is no order
    negated = re.match(r"(?:don't|do not)\s+(.+)", order, re.IGNORECASE)
    wanted = f"not to {negated[1]}" if negated else f"to {order[:1].lower()}{order[1:]}"
    return f"{name} asks the assistant {_seen_from_outside(wanted, name)}."


def verdict(sentence: str, name: str, answer: str) -> str | None:
    """What the user made of the assistant's `answer`, in the user's own words.

    Quotes the beginning of the answer: without it, "that's wrong" says nothing.
    """
    sentence = _EXCLAIMED.sub("", sentence.strip())
    kind = "corrected" if _CORRECTION.match(sentence) else "confirmed"
    if kind == "confirmed" and not _CONFIRMATION.match(sentence):
        return None
    quoted = sentence.rstrip(" .!").replace('"', "'")
    return f'{name} {kind} the assistant\'s answer "{_beginning(answer)}": "{quoted}".'


def _beginning(text: str) -> str:
    plain = " ".join(text.split()).replace('"', "'")
    if len(plain) <= 100:
        return plain.rstrip(".")
    return plain[:100].rsplit(" ", 1)[0] + " ..."


def _seen_from_outside(text: str, name: str) -> str:
    inner = name[:1].lower() + name[1:] if name.startswith("The ") else name
    text = re.sub(r"\bmy\b", f"{inner}'s", text, flags=re.IGNORECASE)
    text = re.sub(r"\b(?:me|I)\b", inner, text)
    return re.sub(r"\byour\b", "its", text, flags=re.IGNORECASE)
