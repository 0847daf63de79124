"""Detection of attacks: text that tries to take over a model.

An attack overrides rules, gives the model a role, asks for its prompt, poses as another voice, or
acts behind the user's back. Every pattern requires an address (an order, a "you", a name for the
model), because "ignore", "rules" and "pretend" alone are ordinary words.
"""

from __future__ import annotations

import re
import unicodedata

from ingest.gate.manners import is_of_manners
from semantic_memory.domain.english.words import Form, forms
from semantic_memory.domain.patterns import regex

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
START = (  # start of an order: of a sentence, or after words like "please" or "you must"
    r"(?:^|[.!?:;\n\]\"'*>–]\s*|\b(?:please|now|you (?:will|can|must|should|shall|are to"
    r"|have to|need to)"
    r"|you'll|i want you to|i need you to)\s+(?:now |always |only |just )?)"
)
_WORD_OR_NAME = r"(?:(?-i:[A-Z]\. [A-Z][\w-]{1,20})|[\w./-]{1,40})"  # "J. Okafor"
_FIGURE = r"(?:[\w./-]{1,40} v?\d[\w.]*|\d[\w.]*(?: [kmgt]i?b(?: (?:of )?(?:memory|ram|disk))?)?)"
_SETTING = rf"[\"']?\w{{1,20}}[\"']?\s?[:=] ?[\"']?{_WORD_OR_NAME}[\"']?"
_VALUE = (  # of a setting: nothing that could be said or ordered
    rf"(?:{_WORD_OR_NAME}(?:[,;] ?{_SETTING}){{0,9}}|{_FIGURE}(?:, {_FIGURE}){{0,9}}"
    rf"|\{{\s*{_SETTING}(?:,\s*{_SETTING}){{0,30}}\s*\}}"
    r"|(?:null|none|true|false) (?:in|for|on|at) [\w ]{1,40}, (?:is|are|why)\b[\w ]{0,30}\?)"
)
_VOICES = r"(?:system|assistant|developer|user|human|ai)"
_LINE_OF_VALUE = rf"[^\S\n]*(?>{_VALUE}(?=\s*(?:\n|\Z)))[^\S\n]*"  # atomic: read in one way
_VALUES = (  # settings to the end of the text, none of which may be a voice
    rf"{_LINE_OF_VALUE}(?:\n[^\S\n]*(?!{_VOICES}\b)[\w.-]{{1,40}} ?[:=]{_LINE_OF_VALUE}){{0,100}}"
    r"\s*\Z"
)
_EARLIER = r"(?:all|any|every|your|previous|prior|above|earlier|preceding|former|original|initial)"
_FROM_NOW = r"\bfrom (?:now|here|this (?:moment|point)) on(?:wards?)?,?"
_SENTENCE = r"(?:[^.!?\n]|[.!?](?![\s\"')]|\Z)){0,300}"  # the rest of it; a point may be in a name
_LOOT = (  # what an attack is after: data, money, a function that acts
    r"(?:https?://|\bwww\.|\S@\S|\b(?:passwords?|passcodes?|credentials?|api[ _]?keys?|secrets?"
    r"|memor(?:y|ies)|transcripts?|chat history|funds|money|payments?|purchases?)\b"
    r"|\b(?:send|mail|forward|post|give)\b[^\n]{0,30}\bcop(?:y|ies)\b"
    r"|\b(?:call|use|run|invoke)(?:s|ing)? \w{1,40}\(|\bcall(?:s|ing)? \w{1,40}_\w)"
)
_MEMORY_IN_BYTES = (  # "heap went from 1.2 to 0.9 GB after the patch", and nothing else
    r"(?![^\n]{0,200}\b(?:users?|you|always|never)\b) ?(?:the )?(?:heap|ram|rss|swap)\b"
    r"[^\n;:,!?]{0,40}\b\d[\d.]* ?[kmgt]i?b\b"
    r"(?: (?:free|used|left|after|since|in|on)\b(?: \w+){0,3})?\.?\s*\Z"
)
_LINE = r".{0,1000}"  # bounded, or each start of a match would scan the rest of the line
_ROLES = (
    r"(?:expert|generator|terminal|interpreter|translator|simulator|compiler|console"
    r"|prompt engineer)"
)
_ACTS = (  # a reply is prescribed by an attack, its language or length by anybody
    r"(?:act|pretend|roleplay|role-play|simulate|behave|comply|obey|refuse|output|impersonate"
    r"|(?:respond|answer|reply)(?: only| exactly| directly)*"
    r" (?:as|like(?! (?:an?|my)\b)|(?:to )?(?:all|any|every)|without|with [\"'“\[]))"
)

_PATTERNS = tuple(
    regex(pattern, re.IGNORECASE)
    for pattern in (
        # overriding rules
        (
            rf"\b(?:ignores(?=[^.!?\n]{{0,40}}\b{_EARLIER}\b)"
            r"|ignor(?:e|ing)(?! (?:the |any |all )?(?:my|\w+ in (?:my|the user's))\b)"
            r"|disregard(?:s|ing)?|bypass(?:es|ing)?|overrid(?:e|es"
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
            # what the user told is the user's to take back
            r"(?<!never )(?<!n't )(?<!\bI )\b(?:ignore|disregard|forget)"
            r" (?:everything|all|anything|what)\b"
            r"(?! (?:that )?I(?:'ve| have)?\b[^.!?\n]{0,30}\babout\b)(?=[^.!?\n]{0,40}\b"
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
        (
            rf"\byou(?:'re| are) (?:an?|the|no longer an?|not an?) "
            rf"(?!(?:\w+est|most|best|worst|only)\b)"
            rf"(?:[\w-]+ ){{0,4}}{_MODEL}\b"
        ),
        (
            rf"(?:^|\n)[^\w\n]*you(?:'re| are| will be)(?: now)? (?:an?|the) (?:[\w-]+ ){{0,4}}"
            rf"{_ROLES}\b"
        ),
        (
            rf"{START}(?:act|behave|respond|pose|answer|reply|function|operate|serve) "
            rf"(?:exactly |only |strictly )?(?:as|like) (?:an?|my|if|though|the) (?={_LINE}\b(?:you"
            rf"|your|prompt|ai|question|answer|reply|respon\w+|command\w*|only)\b)"
        ),
        (
            rf"{START}(?:pretend|imagine|assume|suppose|roleplay|role-play|simulate) (?:that )?"
            rf"(?:you(?:'re| are| were| have)|to be|being)\b(?={_LINE}\b(?:ai|{_MODEL}|character"
            rf"|persona|restrict\w*|rules|question\w*|answer\w*|respon\w+|prompt\w*|allowed"
            rf"|anything)\b)"
        ),
        (
            rf"\b(?:hypothetical|fictional) (?:response|ai|world|scenario|dialogue)\b(?={_LINE}\b"
            rf"(?:you|your|ai|{_MODEL})\b)"
        ),
        (
            rf"{_FROM_NOW} (?:you(?:'re| are| have| act)|act|pretend|ignore|respond as|i am your"
            r"|your name)\b"
        ),
        (
            rf"\b{_MODEL}(?: now| always| never| that)* (?:must|shall|is now|has no|can do"
            rf"|does not have|pretends?|will (?:now|always|never|not|only|answer|respond|comply"
            rf"|obey|ignore|act))\b"
        ),
        (
            rf"{START}(?:you )?(?:will )?(?:play|be|become|take on|assume|adopt) (?:the |a |an "
            rf"|two |2 )?(?:role|character|persona|entity|entities|roles|personas)\b"
        ),
        # removing its limits
        (
            r"\bjailbr(?:eak|oken)\w*\b(?! (?:(?:my|the|an?|your|his|her) )?(?:i?phone|i?pad|ps\d"
            r"|switch|console|device|kindle))(?<!a jailbroken)"
            r"(?! (?:lists?|sets?|corpus|tests?|detect\w+)\b)|\bdo anything now\b|\b(?:god|dan"
            r"|root|sudo)[ _](?:mode|override)\b(?!\()|\b(?:developer|debug|admin(?:istrator)?)[ _]"
            r"(?:mode|override)\b(?=.{0,300}\b(?:you|your|respond|answer|output|display)\b)"
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
            r"\b(?:initiali[sz]ation string)\b"
            r"|\b(?:your|hidden|entire|full|whole|exact)\b.{0,20}"
            r"\bsystem[_ ](?:prompt|instructions?)\b"
            r"|\b(?:ignore|reveal|print|show|repeat|output|override|replace|forget|leak|copy|send"
            r"|write|give|tell|change|update|disclose|return|list|describe)\b.{0,60}"
            r"\bsystem[_ ](?:prompt|instructions?)\b"
            r"|\bsystem[_ ](?:prompt|instructions?)\b[^.\n]{0,40}(?::|\b(?:you|your)\b)"
            r"|\byour system[_ ]message\b|\b"
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
            r"(?:^|\n)[^\S\n]*(?:\[|<|\#{1,3}|\*\*|\$)?\s*"
            rf"{_VOICES}\s*(?:\]|>|\*\*)?\s*:(?!//)(?!{_VALUES})"
        ),
        (
            r"(?:^|\n)[^\S\n]*(?:\[|<|\#{2,3}|\*\*)\s*(?:instructions?|rules)\s*(?:\]|>|\*\*)?\s*:"
            rf"(?={_LINE}\b(?:you|your|respond|answer)\b)"
        ),
        (
            r"<\|[\w ./:-]{1,40}\|>|<(?:im_start|im_end|system|endoftext|user|assistant)>(?! is\b)"
            r"|\[/?(?:inst|sys|system)\]|<</?sys>>|\bbegin system\b"
            r"|</?(?:tool|function)_?(?:calls?|results?|responses?|outputs?)\b"
        ),
        (
            r"\bsystem (?:instruction|override)s?\b|(?:^|\n)[^\w\n]*system (?:update|alert|notice"
            r"|note)s?\s*[:!\]]"
        ),
        r"[\"']role[\"']\s{0,5}:\s{0,5}[\"'](?:system|developer)[\"']",
        r"<!--[^>\n]{0,40}\b(?:assistant|ai|llm|model|agent|system)\b\s?[:,]",
        # addressing whatever model reads on
        (
            r"\b(?:note|notice|message|instructions?|attention|important)\b[^.\n]{0,20}\b(?:for|to)"
            r" (?:any |all |the |every )?(?:ai|llm|language model)s?\b"
            r"(?: (?:assistant|agent|model|bot)s?)?"
            r"(?:[:,]| (?:reading|processing|summari[sz]ing|that reads|parsing)\b)"
        ),
        r"\b(?:ai|llm) (?:agents?|assistants?|models?|bots?)\s?:(?=[^\n]{0,200}\b\w{3,}\b)",
        (
            r"(?:^|[.!?\n]\s{0,3})(?:dear |attention )?(?:ai|assistant|chatbot|llm)[,:]"
            r" (?:henceforth|from (?:now|here)|treat|trust|ignore|skip|disregard)\b"
        ),
        (
            r"\b(?:when(?:ever)?|if|each time|every time) (?:the|an?) user (?:asks?|mentions?"
            r"|wants?|requests?|says?)\b[^.\n]{0,60},? "
            r"(?:always |then |only )?(?:recommend|suggest|say|tell"
            r"|reply|answer|respond|hide|redirect|promote|claim|push)\b"
        ),
        # claiming an authority, a mode or the end of what is read
        (
            r"\bas (?:an?|the|your) (?:admin\w{0,12}|developer|owner|operator|creator|root"
            r"|supervisor)\b[^.\n]{0,40}\bi (?:hereby )?"
            r"(?:authori[sz]e|order|command|permit|instruct)"
            r" you\b"
        ),
        r"\byou(?:'re| are) now in (?:developer|debug|admin|god|maintenance|root|test) mode\b",
        (
            r"\bend of (?:the )?(?:document|text|input|message|email|page|file|article)\b"
            r"\s?[.:!*\])>-].{0,20}"
            r"\b(?:new|next|real|actual) (?:task|instructions?|orders?|objective)\b"
        ),
        r"\b(?:begin|start|apply) memory (?:update|override|write)\b",
        # having what is stored carried away
        (
            r"\b(?:encode|append|put|send|include|embed|attach|post)\b[^\n]{0,80}\b(?:memor(?:y|ies)"
            r"|conversation|chat|history|context)\b[^\n]{0,60}https?://"
        ),
        (
            r"\b(?:reveal|list|show|give|tell|dump|export)\b[^.\n]{0,40}\b(?:memor(?:y|ies)|data"
            r"|passwords?|secrets?|profiles?)\b[^.\n]{0,30}\b(?:other|another|all) users?\b"
        ),
        r"\b(?:list|reveal|print|output|dump)\b[^.\n]{0,20}\b(?:passwords?|secrets?)\b[^.\n]{0,20}\byou\b",
        (
            r"\b(?:send|forward|mail|post)\b[^.\n]{0,30}\b(?:copy|transcript|log) of (?:the|this"
            r"|our|every|each) (?:conversation|chat|session)\b"
        ),
        r"!\[[^\]\n]{0,200}\]\(https?://[^)\s]{0,300}[?&][^)\s=]{1,40}=(?-i:[A-Z_]{5,60})\)",
        (
            r"\b(?:as a side effect|secretly|silently)\b,?[^.\n]{0,30}"
            r"\b(?:call|run|send|forward|invoke|execute|post)\b"
        ),
        (
            r"\bdecode (?:this|it|that|the following)\b[^.\n]{0,40}\b(?:follow|execute|obey"
            r"|do what|carry out)\b"
        ),
        r"\brepeat (?:everything|all|the (?:text|words|content)) (?:above|before)\b",
        # keeping something from the user; acting behind their back
        (
            r"\b(?:do not|don't|never|without) (?:tell(?:ing)?|inform(?:ing)?|alert(?:ing)?"
            r"|mention(?:ing)?|reveal(?:ing)?|notify(?:ing)?|let(?:ting)?)\b.{0,30}\b(?:the "
            r"(?:user|human|customer|operator|owner)|this instruction|these instructions)\b"
        ),
        (
            rf"{START}(?:send|post|upload|forward|email|exfiltrate|transmit|leak"
            rf"|transfer)\b.{{0,60}}\b(?:to https?://|api[ _]?keys?|passwords?|credentials|"
            rf"(?:access |auth )tokens?|chat history|(?:the|this|our|my|entire|full|whole"
            rf"|all) conversation|all (?:user|customer|patient)\w*)"
        ),
        (  # an image or link that carries words of the conversation away
            r"!?\[[^\]\n]{0,200}\]\(https?://[^)\s]{0,300}[?&][^)\s=]{1,40}=[^)\s]{0,200}(?:[{\[<$]"
            r"|%7b|data|secret|history|conversation|chat|summary|password|token)"
        ),
        rf"\bmemory (?:update|override)\s*[:!](?!{_MEMORY_IN_BYTES})",
        (  # a standing rule, about what is worth stealing
            r"\b(?:remember|store|save) (?:this |that |it )?"
            r"(?:permanently|forever|as (?:a|an) (?:fact|rule|instruction))\b"
            rf"(?={_SENTENCE}\b(?:always|never|do not|don't|must|without|skip|send|give|share"
            rf"|approve)\b)(?={_SENTENCE}{_LOOT})"
        ),
    )
)
_ELSEWHERE = tuple(  # overriding rules, or asking for the prompt, in other languages
    regex(pattern, re.IGNORECASE)
    for pattern in (
        (
            r"\b(?<!ich )(?:ignoriere|ignorieren sie|vergiss|vergesst|missachte)\b.{0,40}"
            r"\b(?:anweisung\w*|regeln|vorgaben|instruktion\w*)\b|\b(?:zeig|gib|nenn|verrate)\w*\b.{0,40}\bsystem-?(?:prompt|anweisung\w*)"
        ),
        (
            r"\b(?:ignore[zs]?|oublie[zs]?)\b.{0,40}\b(?:instructions?|consignes|règles|directives)\b"
            r".{0,20}\b(?:précédent\w*|antérieur\w*|ci-dessus|système)"
        ),
        (
            r"\b(?:ignora|ignore|olvida|olvide|omite)\b.{0,40}\b(?:instrucciones|reglas|indicaciones"
            r"|órdenes)\b.{0,20}\b(?:anteriores|previas|del sistema|de arriba)"
        ),
        (
            r"\b(?:ignora|ignori|dimentica|dimentichi)\b.{0,40}\b(?:istruzioni|regole|direttive)\b"
            r".{0,20}\b(?:precedenti|di sistema|sopra)"
        ),
        (
            r"\b(?:ignore|ignora|esqueça|esquece)\b.{0,40}\b(?:instruções|regras|ordens)\b.{0,20}"
            r"\b(?:anteriores|prévias|do sistema|acima)"
        ),
        (
            r"\b(?:(?:ignore|oublie)[zs]? (?:toutes )?(?:tes|vos)|(?:ignora|olvida) (?:todas )?tus"
            r"|(?:ignora|dimentica) (?:tutte )?le tue"
            r"|(?:ignore|esqueça) (?:todas )?as suas)\b.{0,20}"
            r"\b(?:consignes|instructions|règles|directives|instrucciones|reglas|istruzioni|regole"
            r"|instruções|regras)\b"
        ),
        r"\b(?:negeer|vergeet)\b.{0,40}\b(?:instructies|regels|opdrachten|aanwijzingen)\b",
        r"\b(?:игнорируй\w*|забудь\w*|проигнорируй\w*)\b.{0,40}\b(?:инструкци\w+|указани\w+|правил\w*)",
        r"(?:忽略|无视|忘记|忽視|無視)掉?.{0,8}(?:之前|以前|以上|上述|前面|所有|先前|系统).{0,8}(?:指令|指示|说明|規則|规则|提示)",
        r"(?:指示|命令|ルール|プロンプト).{0,8}(?:無視|忘れ)",
        r"(?:지시|명령|지침|규칙|프롬프트).{0,10}(?:무시|잊어)",
    )
)
_FOR_GOOD = regex(
    rf"{_FROM_NOW} you(?: will|'ll| must| shall| only| need to)\b(?=(?P<order>.{{0,500}}))",
    re.IGNORECASE | re.DOTALL,
)
_ADVERBS = r"^(?: now| only| always| never| also)*"
_OF_REPLIES = regex(
    rf"{_ADVERBS} (?:(?:answer|reply|respond|write|speak|talk|use|translate|begin|start|end)\b"
    r"(?! (?:as|like|all|any|every|without)\b)|(?:call|tell|ask|remind) (?:me|us)\b)",
    re.IGNORECASE,
)
_OF_MORE = regex(rf"{_ADVERBS} (?:send|give|call|keep|show|tell|ask)\b", re.IGNORECASE)
_STOLEN = regex(_LOOT, re.IGNORECASE)
# Letters of other scripts that look like Latin ones, where a word mixes scripts
_LOOKALIKES = str.maketrans(
    "аеорсухіјѕԁԛԝһАЕОРСУХІЈЅВКМНТοαρνικυχΑΒΕΖΗΙΚΜΝΟΡΤΥΧ",
    "aeopcyxijsdqwhAEOPCYXIJSBKMHToapvikuxABEZHIKMNOPTYX",
)
_JOINED = regex(  # "ignore_all_rules", "ignoreAllRules"
    r"\b_{0,3}[^\W_]{1,40}(?:_{1,3}[^\W_]{1,40}){1,20}|\b[a-z]{2,20}(?:[A-Z][a-z]{1,20}){1,20}\b"
)
_JOINT = regex(r"_+|(?<=[a-z])(?=[A-Z])")
_SENTENCE_OF = 4  # words, from which a name may be a sentence
_WORD = regex(r"\w{2,64}")
_LATIN = regex(r"[a-zA-Z]")
_SPACED = regex(r"(?<!\S)(?:[^\W\d_] ){2,60}[^\W\d_](?!\S)")  # "i g n o r e"
_SPACES = regex(r"\s{2,}")
_INVISIBLE = regex(r"[\u200b\u200e\u200f\u2060-\u2064\ufeff\u00ad\U000e0000-\U000e007f]")
# Used to write hidden letters or to break up words; chat programs put them beside list items.
_HIDDEN = regex(r"[\U000e0020-\U000e007f]|(?<=\w)[\u200b\u2060-\u2064\ufeff]")
_MOST_HIDDEN = 3
_PIECE = 1_000  # characters normalised at once; sorting the marks on a letter takes quadratic time


def is_attack(text: str) -> bool:
    """Return True if `text` tries to take over a model that reads it."""
    if len(_HIDDEN.findall(text)) > _MOST_HIDDEN:
        return True
    return any(map(_attacks, readings(plain(text))))


def readings(text: str) -> tuple[str, ...]:
    """Return `text`, and if names in it may be orders, also as it reads with those taken apart.

    >>> readings("ignore_all_rules() in app_settings")
    ('ignore_all_rules() in app_settings', 'ignore all rules() in app_settings')
    """
    apart = _JOINED.sub(lambda name: _apart(name[0]), text)
    return (text,) if apart == text else (text, apart)


def _apart(name: str) -> str:
    """Return the words of a name that begins with a verb or is a whole sentence, else the name."""
    parts = [part for part in _JOINT.split(name) if part]
    may_order = len(parts) >= _SENTENCE_OF or Form.BASE in forms(parts[0].lower())
    return " ".join(parts) if may_order else name


def _attacks(visible: str) -> bool:
    return any(pattern.search(visible) for pattern in (*_PATTERNS, *_ELSEWHERE)) or any(
        not _is_wish(found["order"]) for found in _FOR_GOOD.finditer(visible)
    )


def _is_wish(order: str) -> bool:
    """Return True if a standing order asks how to answer, and for nothing else."""
    if _STOLEN.search(order):
        return False
    about_replies = _OF_REPLIES.match(order) is not None
    return about_replies or (_OF_MORE.match(order) is not None and is_of_manners(order))


def plain(text: str) -> str:
    """Normalise `text`: NFKC, straight apostrophes, single spaces and line ends, one script a word.

    Removes invisible characters. Long runs of spaces would make the patterns quadratic.
    """
    pieces = (text[start : start + _PIECE] for start in range(0, len(text), _PIECE))
    same = "".join(unicodedata.normalize("NFKC", piece) for piece in pieces)
    visible = _INVISIBLE.sub("", same).replace("’", "'")
    visible = _SPACED.sub(lambda found: found[0].replace(" ", ""), visible)
    if not visible.isascii():
        visible = _WORD.sub(_in_one_script, visible)
    return _SPACES.sub(lambda found: "\n" if "\n" in found[0] else " ", visible)


def _in_one_script(word: re.Match[str]) -> str:
    """Return a word with Latin letters in place of those that look like them, if it has both."""
    return word[0].translate(_LOOKALIKES) if _LATIN.search(word[0]) else word[0]
