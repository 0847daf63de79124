"""Statements in other languages become facts in their own words."""

import doctest
from datetime import UTC, datetime

import pytest

from ingest.extract import languages
from ingest.extract.languages import told
from ingest.extract.offline import OfflineExtractor
from semantic_memory.domain.facts import Category
from semantic_memory.domain.messages import Message

SAID = datetime(2026, 3, 2, 9, tzinfo=UTC)
KEPT = {
    "Ich wohne seit Mai in Kassel.": Category.PERSONAL,
    "Meine Tante heißt Ulla und ist Lehrerin.": Category.PERSONAL,
    "Der Vertrag endet im Juni.": Category.PROJECT,
    "Antworte mir bitte immer auf Deutsch.": Category.FEEDBACK,
    "J'ai deux chats.": Category.PERSONAL,
    "Claire déteste les épinards, et moi aussi.": Category.PREFERENCE,
    "Le serveur de test écoute sur le port 9001.": Category.TECHNICAL,
    "Vivo en Murcia con mi prima.": Category.PERSONAL,
    "No me gusta el pescado.": Category.PREFERENCE,
    "Sono allergico alle noci.": Category.PERSONAL,
    "La riunione è il 5 maggio.": Category.PROJECT,
    "Moro no Porto desde 2019.": Category.PERSONAL,
    "Não gosto de leite.": Category.PREFERENCE,
    "Ik werk als kok in Gent.": Category.PERSONAL,
    "De deadline is 3 november.": Category.PROJECT,
    "У меня аллергия на орехи.": Category.PERSONAL,
    "Мою собаку зовут Рекс.": Category.PERSONAL,
    "我在南京当老师。": Category.PERSONAL,
    "我不喜欢喝咖啡。": Category.PREFERENCE,
    "犬の名前はモモです。": Category.PERSONAL,
    "締め切りは六月八日です。": Category.PROJECT,
    "저는 대전에 살아요.": Category.PERSONAL,
    "저는 커피를 안 좋아해요.": Category.PREFERENCE,
}
LEFT_OUT = [
    "Danke dir, das hilft!",
    "Wo wohne ich?",
    "Kannst du mir helfen",
    "Vielleicht ziehe ich um.",
    "Schreib mir einen Brief an die Bank.",
    "Es ist kalt heute.",
    "Je voudrais un poème sur la mer.",
    "Écris-moi un poème.",
    "¿Dónde vivo yo?",
    "Escribe un poema sobre mi gato.",
    "Non so cosa fare con mio fratello.",
    "Ik heb een vraag.",
    "Напиши мне письмо.",
    "我住在哪个城市？",
    "帮我写一封信。",
    "私の仕事は何ですか？",
    "手紙を書いてください。",
    "제 직업이 뭐예요?",
    "Jag bor i Malmö och har en hund.",
]


def extracted(text: str, name: str | None = None) -> list[tuple[str, Category]]:
    message = Message(id="m1", role="user", content=text, name=name, created_at=SAID)
    found = OfflineExtractor().extract([message])
    return [(one.content, one.category) for one in found.candidates]


def test_the_examples_run():
    assert doctest.testmod(languages).failed == 0


def test_a_statement_is_kept_in_its_own_words():
    assert {text: extracted(text) for text in KEPT} == {
        text: [(text, category)] for text, category in KEPT.items()
    }


def test_questions_requests_and_talk_of_the_moment_give_no_fact():
    assert {text: extracted(text) for text in LEFT_OUT} == {text: [] for text in LEFT_OUT}


def test_a_message_gives_a_fact_for_each_sentence_that_states_something():
    text = "Hallo! Ich wohne in Köln. Wie geht es dir? Mein Hund heißt Bruno."
    kept = [content for content, _ in extracted(text)]
    assert kept == ["Ich wohne in Köln.", "Mein Hund heißt Bruno."]


def test_a_named_speaker_stands_in_front_of_what_they_say_of_themselves():
    assert extracted("Ich wohne in Köln.", "Jonas")[0][0] == "Jonas: Ich wohne in Köln."
    assert extracted("Der Vertrag endet im Juni.", "Jonas")[0][0] == "Der Vertrag endet im Juni."


@pytest.mark.parametrize(
    ("code", "text", "day"),
    [
        ("de", "Ich fahre morgen nach Rom.", "morgen (2026-03-03)"),
        ("fr", "J'ai vu mon frère hier.", "hier (2026-03-01)"),
        ("es", "Ayer vi a mi hermano.", "Ayer (2026-03-01)"),
        ("it", "Ieri ho visto mio fratello.", "Ieri (2026-03-01)"),
        ("pt", "Vou a Braga amanhã.", "amanhã (2026-03-03)"),
        ("nl", "Ik heb morgen examen.", "morgen (2026-03-03)"),
        ("ru", "Завтра я лечу в Омск.", "Завтра (2026-03-03)"),
        ("zh", "我明天去上海出差。", "明天 (2026-03-03)"),
        ("ja", "私は明日東京に行きます。", "明日 (2026-03-03)"),
        ("ko", "저는 내일 부산에 가요.", "내일 (2026-03-03)"),
    ],
)
def test_a_day_named_from_the_day_of_speaking_gets_its_date(code: str, text: str, day: str):
    [one] = told(text, code, SAID)
    assert day in one.text


def test_a_morning_is_no_date():
    [one] = told("Ich laufe jeden Tag am Morgen.", "de", SAID)
    assert one.text == "Ich laufe jeden Tag am Morgen."
