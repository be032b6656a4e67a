"""Columns that hold secrets (passwords, tokens, keys), found by names and sample values."""

from __future__ import annotations

import math
import re
from collections import Counter
from functools import lru_cache

from ..words import split_name
from .column_kinds import is_date_or_time_text
from .schema import ColumnSchema, Schema, TableSchema

_FORMS = re.compile(
    r"""\$(?:2[abxy]?|1|5|6|7|y|apr1|argon2(?:id|i|d)|scrypt|pbkdf2(?:-\w+)?|bcrypt-sha256)\$\S{10,}
    |(?:pbkdf2|scrypt|bcrypt|argon2|md5|sha\d{1,3})(?:_\w{1,20})?(?:[:$]\S{1,120})?\$\S{16,}
    |SCRAM-SHA-\d+\$\S{20,}
    |\A\*[0-9A-F]{40}\Z|\$A\$\d{3}\$
    |\{(?:S?SHA\d*|S?MD5|CRYPT|BCRYPT|PBKDF2[^\s}]{0,20})\}\S{10,}
    |(?<![\w-])(?:
        eyJ[\w-]{8,}\.[\w-]{8,}\.[\w-]*
        |sk-(?:(?:proj|ant|or|svcacct|live|test)[\w-]*-)?(?=[\w-]*\d)[A-Za-z0-9_]{16,}
        |[spr]k_(?:live|test)_[A-Za-z0-9]{10,}
        |(?:AKIA|ASIA)[A-Z0-9]{16}(?!\w)
        |(?:gh[pousr]|github_pat|npm|hf|whsec|shp(?:at|ca|pa|ss)|dop_v1)_(?=\w*\d)\w{16,}
        |(?:glpat|xkeysib|xox[abeoprs])-(?=[\w-]*\d)[\w-]{10,}
        |gsk_[A-Za-z0-9]{48,60}\b|sbp_[0-9a-f]{40}\b|dapi[0-9a-f]{32}\b|ATATT3x[\w-]{20,}|\d{8,10}:AA[\w-]{33}\b
        |AIza[\w-]{30,}|ya29\.[\w-]{20,}|SG\.[\w-]{16,}\.[\w-]{16,}
        |1//0[\w-]{20,}|hv[sbr]\.[\w-]{20,}|AGE-SECRET-KEY-1[A-Z0-9]{20,}
    )
    |\b[a-z][a-z0-9+]{0,30}://[^\s/:@]*:[^\s/@]+@\S+
    |jdbc:oracle:\w+:\w+/[^\s/@]+@
    |https://(?:hooks\.slack\.com/\w+|(?:\w+\.)?discord(?:app)?\.com/api/webhooks)/\S+
    |otpauth://\S+
    |(?i:[?&\#](?:\w+[_-])?(?:token|secret|sig|signature|api_?key|key|password)=(?=[^\s&]{0,99}\d)[^\s&]{8,})
    |(?<![^\W_])(?i:password|passwd|pwd|secret|account_?key|access_?key)\ ?=\ ?(?![\s;?:$%{*<])[^\s;&]{4,}
    |(?i:"\w*(?:password|passwd|pwd|secret|api_?key|access_?token)"\ ?:\ ?"[^"]{4,}")
    |(?i:authorization:\ ?(?:bearer|basic)\ )(?=\S{0,99}[\dA-Z=])[\w.~+/=-]{12,}
    |\A(?i:bearer|basic)\ (?=\S*[\dA-Z=])[\w.~+/=-]{12,}\Z
    |-----BEGIN\ [A-Z ]*PRIVATE\ KEY""",
    re.VERBOSE,
)
"""Secrets whatever their column is called: hashed passwords, signed tokens, keys of services, logins in URLs."""


def _parse_comma_list(text: str) -> frozenset[str]:
    return frozenset(map(str.strip, text.split(",")))


_SPACED = re.compile(r"[\s:-]+")
_IBAN = re.compile(r"[A-Z]{2}\d{2}[A-Z0-9]{11,30}")

_PASSWORDS = tuple(
    _parse_comma_list(
        "password, passwd, pwd, passphrase, passcode, passwort, kennwort, contrasena, senha, motdepasse, wachtwoord, "
        "losenord, salasana, haslo, heslo, parola, пароль, 密码, 密碼"
    )
)
_PASSWORD_WORDS = _parse_comma_list("pw, pwhash, pwdhash, passhash, de passe, user pass, db pass").union(_PASSWORDS)
_SURE = _PASSWORD_WORDS | _parse_comma_list("secret, apikey, api key, secret key, private key, credential, iban")
_GENERIC = _parse_comma_list("key, key material, session, sid, tok, seed")
"""What names much else, too."""
_IDENTIFIERS = _GENERIC | {"session id", "sessionid"}
"""What a UUID may be, which is no secret."""
_NAMES = (_SURE | _GENERIC).union(
    _parse_comma_list(
        "token, hash, salt, digest, jwt, bearer, nonce, signature, cookie, otp, totp, sessionid, md5, sha1, sha256, "
        "sha512, bcrypt, csrf, access key, auth key, encryption key, signing key, license key, licence key, "
        "master key, service key, session key, ssh key, activation key, pass word, activation code, recovery code, "
        "backup code, reset code, session id, otp seed, totp seed, mfa seed, authorization, pass, hmac, pepper, cred, "
        "auth, auth code, access code, link code, hmac key, aes key, enc key, totp key, wlan key, wifi key, pin"
    )
)
"""How the names of such columns end, before `_AFTER`."""

_DIGITS = _parse_comma_list("pin, otp, reset code, recovery code, backup code")
"""What is of digits alone."""
_TABLES_OF_SETTINGS = _parse_comma_list("setting, config, configuration, credential")
_SETTINGS = _parse_comma_list("value, val, v, setting, content, text, txt, data, string")
"""How columns of values end whose names stand in another column."""

_AFTER = _parse_comma_list(
    "value, text, string, encrypted, enc, hashed, plain, raw, hex, base64, b64, encoded, uuid, guid, v, old, new, "
    "current, previous, prev, last, prod, production, staging, dev, test, live, sandbox, blob, bytes, binary, sent, "
    "temp"
)
_RUN_TOGETHER = tuple(name for name in _NAMES - _GENERIC if len(name) > 4 and " " not in name)
_LOGINS = _parse_comma_list(
    "smtp, imap, pop, mail, email, ftp, sftp, ssh, db, database, sql, mysql, pg, user, admin, root, login, ldap, "
    "proxy, vpn, wifi, wlan, auth, hash, service, server, api"
)
"""Of what `pass` may be short for a password; of others, it lets people board."""
_SERVICES = _parse_comma_list(
    "stripe, openai, anthropic, google, map, sendgrid, twilio, mailgun, aws, azure, gcp, consumer, subscription, "
    "storage, shared, webhook, deploy, unlock, write, read, integration, service, server, publishable, app, "
    "application, rest, auth, crypto"
)
"""Whose key is one that opens something, where its values look drawn by a program."""
_SUBJECTS = _parse_comma_list("user, login, db, database, admin, account, customer, client")
"""Whose a password is, where its name says so at the end."""
_HASHES = _parse_comma_list("hash, digest, md5, sha1, sha256, sha512")
_PUBLIC = _parse_comma_list(
    "git, commit, tree, revision, transaction, tx, txn, block, merkle, url, uri, link, file, path, content, image, "
    "photo, page, document, doc, object, asset, package, artifact, row, record, query, schema, checksum, etag, build, "
    "layer, geo, product, download, attachment, release, media, video, audio"
)
"""Of what a hash is no secret."""

_PASSWORD_IN_URL = re.compile(r"\w://[^/\s:@]*:[^/\s@]+@")
_NAME = re.compile(r'"[^"]+"|`[^`]+`|\w+')
_FLAGS = _parse_comma_list("pass, fail, passed, failed, yes, true, false, none, null, unset, strong, weak, medium")
_OPAQUE = re.compile(r"[A-Za-z0-9+/=_.:~$!@#%^&*|-]+")
_TOKEN_TEXT = re.compile(r"[A-Za-z0-9+/_-]{20,}={0,2}")
_UUID = re.compile(r"[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}")
_LONG, _CERTAIN, _SALT, _COPIED, _PASSWORD = 16, 20, 8, 6, 4
"""The fewest characters of a random text, of one that suffices alone, a salt, a secret in a view, a password."""
_CODE = re.compile(r"\d{4,8}")
_LISTED = re.compile(r"[\s,;:\[\]{}\"']+")
_ENTROPY = 2.5
"""The fewest bits that a character of a random text tells; hexadecimal digits tell nearly 4."""


def find_secret_columns(schema: Schema) -> set[tuple[str, str]]:
    """Return the columns of a schema that hold secrets, as pairs of table and column."""
    columns = [(table, column) for table in schema.tables for column in table.columns]
    places = {(table.name, column.name) for table, column in columns if _is_secret_column(column, table.name)}
    settings = {(table.name, column.name) for table, column in columns if _is_named_by_secrets(column, table)}
    if not places and not settings and not any(names_secrets(table.definition) for table in schema.tables):
        return places
    from .secret_views import TEXT_KINDS, find_view_columns_with_secrets

    secrets = {text for table, column in columns if (table.name, column.name) in places for text in _list_texts(column)}
    base = {column.name.lower() for table, column in columns if table.kind == "table"}
    for table, column in columns if places else ():
        # A view, or a copy, may call a secret column something else.
        is_view = table.kind != "table"
        texts = _list_texts(column)
        is_copied = any(text in secrets and len(text) >= (_COPIED if is_view else _LONG) for text in texts)
        renamed = is_view and column.name.lower() not in base and column.samples and _has_secret_values(column, "token")
        if is_copied or (renamed and not all(map(_UUID.fullmatch, texts))):
            places.add((table.name, column.name))
    places |= settings  # most of their values are no secrets, so that what equals one is no copy of a secret
    holders = {table for table, _ in places}
    # No engine says for certain from which columns one is generated.
    places |= {
        (table.name, column.name)
        for table, column in columns
        if column.generated and column.kind in TEXT_KINDS and table.name in holders
    }
    return places | find_view_columns_with_secrets(schema, places)


@lru_cache(10_000)
def is_secret_name(name: str) -> bool:
    """Whether a column's name alone shows that the column holds secrets."""
    return _classify_secret_name(name, "") in _SURE


def names_secrets(definition: str) -> bool:
    """Whether a view's definition contains a name that means a secret, such as `password`."""
    return any(map(is_secret_name, set(_NAME.findall(definition))))


def is_secret_text(text: str) -> bool:
    """Whether a text looks like a secret: a key or token, a hash, a password in a URL."""
    return bool(_FORMS.search(text) or _PASSWORD_IN_URL.search(text)) or any(
        _is_random_text(word, _LONG) for word in text.split()
    )


def is_iban(text: str) -> bool:
    """Whether a text without spaces has the form and the check digits of an IBAN."""
    return bool(_IBAN.fullmatch(text)) and int("".join(str(int(sign, 36)) for sign in text[4:] + text[:4])) % 97 == 1


def _is_secret_column(column: ColumnSchema, table: str) -> bool:
    texts = _list_texts(column)
    if any(_FORMS.search(text) for text in texts):
        return True
    if texts and 2 * sum(is_iban(_SPACED.sub("", text).upper().removeprefix("IBAN")) for text in texts) > len(texts):
        return True
    name = _classify_secret_name(column.name, table)
    return bool(name) and _has_secret_values(column, name)


def _is_named_by_secrets(column: ColumnSchema, table: TableSchema) -> bool:
    """Whether a column has values of settings, and another column names some as secrets."""
    if "".join(split_name(column.name)[-1:]).removesuffix("s") not in _SETTINGS:
        return False
    # A name of an event, such as reset_password, stands many times.
    keys = (key for key in table.columns if key is not column and (key.primary_key or key.distinct == table.row_count))
    texts = [text for key in keys for text in _list_texts(key) if " " not in text]
    # Of many settings the samples are but a few.
    is_settings_table = {*_split_into_words(table.name)[-1:]} <= _TABLES_OF_SETTINGS
    return any(map(is_secret_name, texts)) or (is_settings_table and bool(texts))


def _has_secret_values(column: ColumnSchema, name: str) -> bool:
    """Whether a column's samples look like secrets; without samples, the name decides."""
    texts = _list_texts(column)
    if not column.samples:
        return column.kind in ("text", "binary") and name in _SURE
    if name in _PASSWORDS:
        long_texts = [text for text in texts if len(text) >= _PASSWORD and text.lower() not in _FLAGS]
        return any(not is_date_or_time_text(text) for text in long_texts)
    if name == "pass":
        # Tickets are passes, too.
        return any(_is_random_text(text, _PASSWORD) for text in texts)
    digits = [sample for sample in column.samples if _CODE.fullmatch(str(sample))]
    if name in _DIGITS and 2 * len(digits) > len(column.samples):
        return True
    if name in _IDENTIFIERS:
        texts = [text for text in texts if not _UUID.fullmatch(text) and _TOKEN_TEXT.fullmatch(text)]
    texts = [max(_LISTED.split(text), key=len) if text[0] in "[{" or name.endswith(" code") else text for text in texts]
    if name in _SURE and any(_is_random_text(text, _CERTAIN) for text in texts):
        return True  # most rows may have none
    min_length = _SALT if name == "salt" or name.endswith(" code") else _LONG
    return 2 * sum(_is_random_text(text, min_length) for text in texts) > len(column.samples)


def _list_texts(column: ColumnSchema) -> list[str]:
    texts: list[str] = []
    for sample in column.samples:
        if isinstance(sample, bytes):
            sample = sample.decode() if sample.isascii() else sample.hex()
        if isinstance(sample, str) and sample.strip():
            texts.append(sample.strip())
    return texts


def _classify_secret_name(name: str, table: str) -> str:
    """Return the kind of secret that a column's name means; else empty."""
    words = _split_into_words(name)
    has_password = any(word.endswith(_PASSWORDS) or word in _PASSWORD_WORDS for word in words)
    while len(words) > 1 and (words[-1] in _AFTER or (has_password and words[-1] in _SUBJECTS)):
        words.pop()
    if not words:
        return ""
    if words[-1].endswith("pass") and words[-1].removesuffix("pass") in _LOGINS:
        words = [*words[:-1], words[-1].removesuffix("pass"), "pass"]
    for ending in (" ".join(words[-2:]), words[-1]):
        if ending in _NAMES or ending.endswith(_RUN_TOGETHER):
            if has_password or ending in _PASSWORD_WORDS:
                return "password"
            # A hash without a word of its own is one of what the table holds.
            subjects = words if len(words) > 1 else _split_into_words(table)[-1:]
            if ending.split()[-1] in _HASHES and not _PUBLIC.isdisjoint(subjects):
                return ""
            if ending == "key" and len(words) > 1 and words[-2] not in _SERVICES:
                return ""
            if ending == "pass" and len(words) > 1 and words[-2] not in _LOGINS:
                return ""
            return next((kind for kind in _SURE if ending.endswith(kind)), ending)
    return ""


def _split_into_words(name: str) -> list[str]:
    parts = split_name(name.replace("ł", "l"), keep_digits=True)
    words = [word if word in _NAMES or word in _AFTER else word.rstrip("0123456789") for word in parts]
    return [word if word in _AFTER or word.endswith("ss") else word.removesuffix("s") for word in words if word]


def _is_random_text(text: str, min_length: int) -> bool:
    """Whether a text looks randomly generated."""
    if len(text) < min_length or not _OPAQUE.fullmatch(text) or text.isdigit():
        return False
    counts = Counter(text)
    entropy = -sum(count / len(text) * math.log2(count / len(text)) for count in counts.values())
    is_mixed = any(map(str.isdigit, text)) or text not in (text.lower(), text.upper())
    return is_mixed and entropy >= _ENTROPY
