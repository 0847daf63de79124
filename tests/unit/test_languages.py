"""Other languages are told from English, and the rules of English leave them alone."""

import doctest
import importlib
import re
from pathlib import Path

import pytest

from semantic_memory.application.doctor import understood
from semantic_memory.domain.language import is_english, language
from semantic_memory.domain.ports import EmbedderIdentity
from semantic_memory.domain.values import normalised
from semantic_memory.judging.packaged import PackagedPairJudge
from semantic_memory.judging.ports import Pair
from tests.conftest import make_fact

ROOT = Path(__file__).parents[2]
DATA = sorted((ROOT / "semantic_memory" / "domain" / "languages" / "data").glob("*.toml"))
MODULES = ("semantic_memory.domain.language", "semantic_memory.domain.languages")

ENGLISH = [
    "I live in Leeds.",
    "i lvie in berln now, its great",
    "The user's sister Zoë is a nurse.",
    "Noor can't eat gluten.",
    "our ceo is called marta voss",
    "no dairy for me pls",
    "tomasz uses a thinkpad",
    "we dont deploy on fridays",
    "the dev db password rotates weekly",
    "Maya joined Microsoft.",
    "kevin died :(",
    "My work e-mail is h.brandt@nordwerk.example.",
    "Marta me and Paul are in Rome for work.",
    "standup is 9:15 every day even fri",
    "ich is a German word that I learned today",
    "My teacher is called 田中 and lives near us.",
    "MY HUSBAND IS A BAKER",
]
OTHERS = {
    "de": ["Ich wohne in Köln.", "bin in Rom", "Mein Hund Rex", "Jonas ist in Hamburg"],
    "fr": ["J'habite à Nantes.", "Paul est malade", "mon fils a sept ans", "Claire mange du pain"],
    "es": ["Vivo en Lima.", "No me gusta el pan", "Mi hijo estudia medicina.", "Marta me debe 30"],
    "it": ["Abito a Verona.", "Non ho figli", "Luca è allergico alle fragole.", "Ho due cani"],
    "pt": ["Moro no Porto.", "Não bebo leite", "A Inês é alérgica ao pólen.", "Falo sueco"],
    "nl": [
        "Ik woon in Gent.",
        "De deadline is 3 november.",
        "We hebben een hond",
        "Mijn zoon is zes",
    ],
    "sv": ["Jag bor i Malmö.", "Jag har en hund och två barn."],
    "pl": ["Mieszkam w Krakowie.", "Mój brat jest lekarzem."],
    "ru": ["Я живу в Казани.", "Собаку зовут Рекс"],
    "zh": ["我住在北京。", "测试服务器用8101端口"],
    "ja": ["私は京都に住んでいます。", "テストサーバー"],
    "ko": ["저는 대전에 살아요.", "딸은 초등학교 3학년이에요."],
}
UNKNOWN = ["ฉันอยู่ที่เชียงใหม่", "أسكن في حلب.", "मैं पुणे में रहता हूँ।", "Ninaishi Nairobi", "Kata Szabó"]
APART = [
    ("Ich wohne in Köln.", "Ich wohne in Bonn."),
    ("Ich wohne jetzt in Köln.", "Ich wohne nicht mehr in Köln."),
    ("Mein Port ist 8081.", "Mein Port ist 8082 now."),
    ("Mi hijo estudia medicina.", "Mi hija estudia medicina."),
    ("Marta habite à Nantes.", "Marthe habite à Nantes."),
    ("Sono vegano.", "Non sono vegano."),
    ("Ik ben Joris 25 euro schuldig.", "Joris is mij 25 euro schuldig."),
    ("Jag bor i Malmö.", "Jag bor i Lund."),
    ("Mam dwa koty.", "Mam trzy koty."),
    ("Я живу в Казани.", "Я живу в Омске."),
    ("我住在北京。", "我妹妹住在上海。"),
    ("私はピアノを弾きます。", "私はギターを弾きます。"),
    ("저는 피아노를 쳐요.", "저는 기타를 쳐요."),
    ("พี่ชายสูบบุหรี่", "พ่อไม่สูบบุหรี่"),
    ("أختي تسكن في حلب.", "أخي يسكن في حلب."),
    ("My teacher is called 田中.", "My teacher is called 鈴木."),
]


@pytest.mark.parametrize("name", MODULES)
def test_the_examples_run(name: str):
    assert doctest.testmod(importlib.import_module(name)).failed == 0


@pytest.mark.parametrize("file", DATA, ids=lambda file: file.stem)
def test_every_list_has_a_comment_with_examples(file: Path):
    lines = file.read_text(encoding="utf-8").splitlines()
    heads = [number for number, line in enumerate(lines) if re.match(r"\w+ = ", line)]
    assert heads
    assert [lines[head] for head in heads if not lines[head - 1].startswith("# Examples: ")] == []


def told(texts: list[str]) -> dict[str, tuple[bool, str | None]]:
    return {text: (is_english(text), language(text)) for text in texts}


def test_english_with_typos_and_names_is_english():
    assert told(ENGLISH) == dict.fromkeys(ENGLISH, (True, "en"))


@pytest.mark.parametrize("code", OTHERS)
def test_short_statements_of_other_languages_are_told(code: str):
    assert told(OTHERS[code]) == dict.fromkeys(OTHERS[code], (False, code))


def test_a_language_without_a_table_is_not_english():
    assert told(UNKNOWN) == dict.fromkeys(UNKNOWN, (False, None))


def test_statements_in_other_languages_get_no_verdict():
    pairs = [
        Pair(make_fact(1, content=older), make_fact(2, content=newer), 0.99)
        for older, newer in APART
    ]
    assert PackagedPairJudge().judge(pairs) == [None] * len(APART)


def test_texts_that_differ_in_case_and_end_marks_only_are_the_same():
    for one, other in (
        ("我的狗叫豆豆。", "我的狗叫豆豆！"),
        ("¡Mi gato se llama Nieve!", "mi gato se llama nieve"),
        ("मैं पुणे में रहता हूँ।", "मैं पुणे में रहता हूँ"),
    ):
        assert normalised(one) == normalised(other)


def test_the_doctor_names_a_multilingual_model_beside_an_english_one():
    english = understood(EmbedderIdentity("all-MiniLM-L6-v2", 384, "mean", "int8"))
    assert english.ok
    assert "trained on English" in english.detail
    assert "paraphrase-multilingual-MiniLM-L12-v2" in english.remedy
    other = understood(
        EmbedderIdentity("paraphrase-multilingual-MiniLM-L12-v2", 384, "mean", "fp32")
    )
    assert other.ok
    assert not other.remedy
