"""Decryption of distribution documents: AES-128 in ECB mode (FIPS 197), all blocks of a stream at once with numpy.

This is not protection that must hold: a distribution document carries its own key, as Hancom's specification says.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Bytes = npt.NDArray[np.uint8]
_BLOCK_BYTES = 16
_ROUNDS = 10
_BATCH_BLOCKS = 65_536  # 1 MB of text at a time keeps the working memory small


def distribution_key(record: bytes) -> bytes:
    """The 16-byte key hidden in the 256 bytes of a DISTRIBUTE_DOC_DATA record.

    The first four bytes seed Microsoft's `rand`; its numbers give runs of one byte (value, then length 1 to 16) that
    are xored over the record. The key stands behind an offset of 4 to 19 that the seed's low bits give.
    """
    if len(record) != 256:
        raise ValueError(f"a distribution record has 256 bytes, not {len(record)}")
    seed = state = int.from_bytes(record[:4], "little")
    plain = bytearray(record)
    run = value = 0
    for place in range(256):
        if run == 0:
            state = (state * 214013 + 2531011) & 0xFFFFFFFF
            value = state >> 16 & 0xFF
            state = (state * 214013 + 2531011) & 0xFFFFFFFF
            run = (state >> 16 & 0xF) + 1
        if place >= 4:
            plain[place] ^= value
        run -= 1
    offset = 4 + (seed & 0xF)
    return bytes(plain[offset : offset + 16])


def decrypt_aes128_ecb(data: bytes, key: bytes) -> bytes:
    """Plain text of `data`, whose length must be a multiple of 16; padding is left in place."""
    if len(data) % _BLOCK_BYTES or len(key) != _BLOCK_BYTES:
        raise ValueError("AES-128 needs a key of 16 bytes and whole blocks of 16 bytes")
    blocks = np.frombuffer(data, dtype=np.uint8).reshape(-1, _BLOCK_BYTES)
    keys = _round_keys(key)
    parts = [_decrypt_blocks(blocks[at : at + _BATCH_BLOCKS], keys) for at in range(0, len(blocks), _BATCH_BLOCKS)]
    return b"".join(part.tobytes() for part in parts)


def _decrypt_blocks(blocks: Bytes, keys: Bytes) -> Bytes:
    state: Bytes = blocks ^ keys[_ROUNDS]
    for number in range(_ROUNDS - 1, -1, -1):
        state = _INVERSE_SBOX[state[:, _INVERSE_SHIFT]] ^ keys[number]
        if number:
            state = _unmix(state)
    return state


def _unmix(state: Bytes) -> Bytes:
    """Inverse MixColumns: every byte is the product sum of its column with 14, 11, 13, 9."""
    columns = state.reshape(-1, 4, 4)
    mixed = np.zeros_like(columns)
    for shift, factor in enumerate((14, 11, 13, 9)):
        mixed ^= _PRODUCT[factor][np.roll(columns, -shift, axis=2)]
    return mixed.reshape(-1, _BLOCK_BYTES)


def _times_x(value: int) -> int:
    return (value << 1 ^ 0x1B) & 0xFF if value & 0x80 else value << 1


def _multiply(left: int, right: int) -> int:
    """Product in GF(2^8) with the polynomial of AES."""
    product = 0
    while right:
        if right & 1:
            product ^= left
        left, right = _times_x(left), right >> 1
    return product


def _substitution() -> Bytes:
    """The S-box: the inverse in GF(2^8), then an affine map."""
    box = np.zeros(256, dtype=np.uint8)
    power = inverse = 1
    while True:
        power = _multiply(power, 3)
        inverse = _multiply(inverse, 0xF6)  # 0xF6 is the inverse of 3
        spread = inverse | inverse << 8
        box[power] = (spread ^ spread >> 7 ^ spread >> 6 ^ spread >> 5 ^ spread >> 4) & 0xFF ^ 0x63
        if power == 1:
            break
    box[0] = 0x63
    return box


def _round_keys(key: bytes) -> Bytes:
    words = [list(key[at : at + 4]) for at in range(0, 16, 4)]
    constant = 1
    for number in range(4, 4 * (_ROUNDS + 1)):
        word = list(words[-1])
        if number % 4 == 0:
            word = [int(_SBOX[byte]) for byte in word[1:] + word[:1]]
            word[0] ^= constant
            constant = _times_x(constant)
        words.append([old ^ new for old, new in zip(words[number - 4], word, strict=True)])
    return np.array(words, dtype=np.uint8).reshape(_ROUNDS + 1, _BLOCK_BYTES)


_SBOX = _substitution()
_INVERSE_SBOX = np.argsort(_SBOX).astype(np.uint8)
_INVERSE_SHIFT = np.array([(place - 4 * (place % 4)) % 16 for place in range(16)])
_PRODUCT = {
    factor: np.array([_multiply(byte, factor) for byte in range(256)], dtype=np.uint8) for factor in (9, 11, 13, 14)
}
