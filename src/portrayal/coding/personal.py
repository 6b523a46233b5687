"""Personal codes: what tells a rater's name on a second browser from the same name by mistake.

The code is shown once, and only its scrypt hash is kept.
"""

import hashlib
import hmac
import re
import secrets

_ALPHABET = "23456789abcdefghjkmnpqrstuvwxyz"
"""Digits and letters that are not mistaken for each other."""
_HALF = 4
_COST = {"n": 2**14, "r": 8, "p": 1}
_WHOLE = re.compile(f"[{_ALPHABET}]{{{2 * _HALF}}}")


def make_code() -> str:
    """Return a code at random, as "k7fm-2xq9": one of 8.5 · 10¹¹."""
    letters = "".join(secrets.choice(_ALPHABET) for _ in range(2 * _HALF))
    return f"{letters[:_HALF]}-{letters[_HALF:]}"


def is_code(text: str) -> bool:
    """Whether a text has the form of a code; hyphens, spaces and case do not matter."""
    return _WHOLE.fullmatch(_bare(text)) is not None


def hashed(code: str) -> str:
    """Return what is kept of a code: salt and scrypt hash, in hexadecimal."""
    salt = secrets.token_bytes(16)
    return f"{salt.hex()}${_scrypt(code, salt)}"


def matches(code: str, kept: str) -> bool:
    """Whether a code is the one of which `hashed` gave `kept`; compared in constant time."""
    salt, _, right = kept.partition("$")
    return hmac.compare_digest(_scrypt(code, bytes.fromhex(salt)), right)


def _scrypt(code: str, salt: bytes) -> str:
    return hashlib.scrypt(_bare(code).encode("utf-8", "replace"), salt=salt, **_COST).hex()


def _bare(code: str) -> str:
    return re.sub(r"[\s-]", "", code).casefold()[:64]
