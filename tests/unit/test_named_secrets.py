"""Values that are joined with nouns for secrets, in many languages."""

import pytest

from ingest.gate.named_secrets import named_secrets


def named(text: str) -> list[str]:
    return [text[start:end] for start, end in named_secrets(text)]


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("PIN:1234", ["1234"]),
        ("PIN: four-four-one-two", ["four-four-one-two"]),
        ("Passwort: Blume.7x", ["Blume.7x"]),
        ("Passwort: Sommer/2024!", ["Sommer/2024"]),
        ("Passwort: 7@Blume", ["7@Blume"]),
        ("Passwort: $ommer2024x", ["$ommer2024x"]),
        ("Passwort: aGVsbG8xMjM0NQ==", ["aGVsbG8xMjM0NQ=="]),
        ('Passwort: "der pin ist im garten"', ["der pin ist im garten"]),
        ('{"PIN": "regenbogen"}', ["regenbogen"]),
        ('the "password" is "swordfish"', ["swordfish"]),
        ("**Password:** Zebra_9x", ["Zebra_9x"]),
        ("Passwort: " + "ab1" * 30, ["ab1" * 30]),
        ("password is v3rySecret!Tiger", ["v3rySecret!Tiger"]),
        ("PUK for the sim: 83920174", ["83920174"]),
        ("mein Handy-PIN war 1122, jetzt 3344", ["1122", "3344"]),
        ("die PIN ist vier neun null zwei", ["vier neun null zwei"]),
        ("le code de la porte : A1234", ["A1234"]),
        ('Maya\'s contraseña es "girasol".', ["girasol"]),
        ("el código de la alarma es 3391", ["3391"]),
        ("il codice del cancello è 3340", ["3340"]),
        ("мой пин от карты 8841", ["8841"]),
        ("код от подъезда 12К4590", ["12К4590"]),
        ("密码：panda7788", ["panda7788"]),
        ("パスワードは「tsubame99」", ["tsubame99"]),
        ("暗証番号は0392にしてる", ["0392"]),
        ("비밀번호는 gomdori77 이야", ["gomdori77"]),
    ],
)
def test_a_value_that_is_joined_with_its_noun_is_named(text, values):
    assert named(text) == values


@pytest.mark.parametrize(
    "text",
    [
        "The API key is read from OPENAI_API_KEY",
        "Passwords are hashed with argon2id",
        "The api key belongs to the gpt4 project",
        "I forgot my PIN, call me at 555 123 4567",
        "I forgot my password again, help!!",
        "I reset my password at https://example.com/reset/12345",
        "My password manager costs $360 a year",
        'I pay for a password manager called "Bitwarden"',
        'My password is written in the book "Dune"',
        "session token limit is 4096",
        "PIN entry fails with error 0x80070057",
        "Ask him for the wifi password, room 304",
        "The error code on the router is 404",
        "il codice postale è 00187",
        'Pin the message "Team lunch at noon"',
        "pin numpy==1.26",
        "my password needs 12 characters",
        "my pin changed in 2024",
        "passwords from 2019 leaked",
        "password: string",
        '{"password": true}',
        "パスワードは2024年に変えました",
        "the shipping pin4opinion",
        "I take a combination of aspirin 325 mg and clopidogrel.",
        "Basil and peach: the combination is delicious.",
        "The lunch combo is 1250 calories.",
        "I moved my passwords to Bitwarden.",
        "Add the wifi password to Notion, please.",
        "We gave the PIN to Grandma.",
        "The PIN is mandatory.",
        "My pin is blank.",
        "Mein Passwort ist furchtbar.",
        "",
    ],
)
def test_what_stands_apart_from_the_noun_is_none(text):
    assert named(text) == []
