"""Session logs that can't be read without their key."""

import builtins

import pytest

from ingest.encryption import Cipher, new_key, read_keys
from ingest.session_log import FileSessionLog
from semantic_memory.application.encrypting import convert_store
from semantic_memory.disk import SystemDisk
from semantic_memory.domain.errors import ConfigurationError, MissingDependencyError
from semantic_memory.settings import EncryptionSettings, Settings
from tests.conftest import say

S = {"user_id": "maya-schmidt", "session_id": "kitchen-plans"}


def secret(*keys: str) -> Settings:
    return Settings(encryption=EncryptionSettings(key=",".join(keys)))


def logs(tmp_path) -> bytes:
    return b"".join(path.read_bytes() for path in (tmp_path / "store/sessions").rglob("*.jsonl"))


def test_an_encrypted_log_holds_no_plaintext_and_reads_back(open_memory, tmp_path):
    settings = secret(new_key())
    memory = open_memory(settings=settings)
    memory.observe(say("The tiles are terracotta", name="Ingrid"), **S)
    memory.close()
    for word in (b"tiles", b"terracotta", b"Ingrid", b"maya", b"kitchen", b"user"):
        assert word not in logs(tmp_path), word
    again = open_memory(settings=settings)
    assert [message.content for message in again.sessions.messages(**S)] == [
        "The tiles are terracotta"
    ]
    assert again.observe(say("The tiles are terracotta", name="Ingrid"), **S).duplicates == 1


@pytest.mark.parametrize("keys", [(), ("wrong",)])
def test_another_key_or_none_is_a_clear_error_at_opening(open_memory, keys):
    memory = open_memory(settings=secret(new_key()))
    memory.observe(say("The tiles are terracotta"), **S)
    memory.close()
    settings = secret(new_key()) if keys else Settings()
    with pytest.raises(ConfigurationError, match="encrypted"):
        open_memory(settings=settings)


def test_keys_are_changed_by_putting_the_new_one_first(open_memory):
    old, new = new_key(), new_key()
    memory = open_memory(settings=secret(old))
    memory.observe(say("One"), **S)
    memory.close()
    memory = open_memory(settings=secret(new, old))
    memory.observe(say("Two", start=2), **S)
    assert [message.content for message in memory.sessions.messages(**S)] == ["One", "Two"]
    memory.close()
    with pytest.raises(ConfigurationError):
        open_memory(settings=secret(new)).sessions.messages(**S)


def test_a_log_begun_in_plain_text_goes_on_encrypted(open_memory, tmp_path):
    memory = open_memory()
    memory.observe(say("One"), **S)
    memory.close()
    key = new_key()
    with pytest.raises(ConfigurationError, match="semantic-memory admin encrypt"):
        open_memory(settings=secret(key))
    convert_store(tmp_path / "store", Cipher([key]), 0.0, encrypt=True)
    memory = open_memory(settings=secret(key))
    memory.observe(say("Terracotta", start=2), **S)
    assert [message.content for message in memory.sessions.messages(**S)] == ["One", "Terracotta"]
    assert b"Terracotta" not in logs(tmp_path)


def test_a_torn_encrypted_line_is_cut_off(tmp_path, events):
    cipher = Cipher([new_key()])
    log = FileSessionLog(tmp_path / "sessions", events.append, SystemDisk(), cipher)
    log.append("u1", "s1", say("One", "Two"))
    path = log.path("u1", "s1")
    path.write_bytes(path.read_bytes()[:-9])
    again = FileSessionLog(tmp_path / "sessions", events.append, SystemDisk(), cipher)
    assert [record.message.content for record in again.read("u1", "s1")] == ["One"]


@pytest.mark.parametrize("inside", ["store/key", "store/sub/key"])
def test_a_key_beside_the_data_is_refused(open_memory, tmp_path, inside):
    file = tmp_path / inside
    file.parent.mkdir(parents=True)
    file.write_text(new_key())
    file.chmod(0o600)
    with pytest.raises(ConfigurationError, match="copied with the data"):
        open_memory(settings=Settings(encryption=EncryptionSettings(key_file=file)))
    link = tmp_path / "link"
    link.symlink_to(file)
    with pytest.raises(ConfigurationError, match="copied with the data"):
        open_memory(settings=Settings(encryption=EncryptionSettings(key_file=link)))


def test_a_key_file_is_used_and_must_be_private(open_memory, tmp_path):
    file = tmp_path / "key"
    file.write_text(new_key() + "\n")
    file.chmod(0o644)
    with pytest.raises(ConfigurationError, match="chmod 600"):
        read_keys(file, tmp_path / "store")
    file.chmod(0o600)
    memory = open_memory(settings=Settings(encryption=EncryptionSettings(key_file=file)))
    memory.observe(say("Terracotta"), **S)
    assert b"Terracotta" not in logs(tmp_path)


@pytest.mark.parametrize("key", ["", "short", "x" * 44])
def test_what_is_no_key_is_refused_with_the_remedy(key):
    with pytest.raises(ConfigurationError, match="new-key"):
        Cipher([key] if key else [])


def test_a_key_and_a_key_file_together_are_refused(open_memory, tmp_path):
    with pytest.raises(ConfigurationError, match="one of them"):
        open_memory(
            settings=Settings(
                encryption=EncryptionSettings(key=new_key(), key_file=tmp_path / "key")
            )
        )


def test_without_the_package_its_install_is_named(monkeypatch):
    real = builtins.__import__

    def without(name, *args, **kwargs):
        if name.startswith("cryptography"):
            raise ImportError(name)
        return real(name, *args, **kwargs)

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(
        MissingDependencyError, match=r"pip install 'semantic-memory\[encryption\]'"
    ):
        new_key()
