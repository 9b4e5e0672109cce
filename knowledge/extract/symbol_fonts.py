"""Characters of symbol fonts: what a glyph of Symbol or Wingdings means where meaning is at stake."""

from __future__ import annotations

# Adobe's encoding of the Symbol font, of which Word keeps the low byte
_SYMBOL = {
    0xA3: "≤", 0xA5: "∞", 0xAB: "↔", 0xAC: "←", 0xAD: "↑", 0xAE: "→", 0xAF: "↓", 0xB0: "°", 0xB1: "±", 0xB3: "≥",
    0xB4: "×", 0xB5: "∝", 0xB7: "•", 0xB8: "÷", 0xB9: "≠", 0xBA: "≡", 0xBB: "≈", 0xBC: "…", 0xC5: "⊕", 0xC6: "∅",
    0xC7: "∩", 0xC8: "∪", 0xCE: "∈", 0xD0: "∠", 0xD1: "∇", 0xD5: "∏", 0xD6: "√", 0xD7: "⋅", 0xE5: "∑", 0xF2: "∫",
    0x2D: "−", 0x40: "≅", 0x44: "Δ", 0x46: "Φ", 0x47: "Γ", 0x4C: "Λ", 0x50: "Π", 0x51: "Θ", 0x53: "Σ", 0x57: "Ω",
    0x61: "α", 0x62: "β", 0x63: "χ", 0x64: "δ", 0x65: "ε", 0x66: "φ", 0x67: "γ", 0x68: "η", 0x6B: "κ", 0x6C: "λ",
    0x6D: "μ", 0x6E: "ν", 0x70: "π", 0x71: "θ", 0x72: "ρ", 0x73: "σ", 0x74: "τ", 0x77: "ω", 0x78: "ξ", 0x79: "ψ",
}  # fmt: skip
_WINGDINGS = {
    0x6F: "□", 0x71: "□", 0xA8: "□", 0xFB: "☒", 0xFC: "✓", 0xFD: "☒", 0xFE: "☑", 0xE0: "→", 0xE8: "→", 0xDF: "←",
    0xE7: "←", 0xF0: "→", **{0x81 + n: chr(0x2460 + n) for n in range(10)},
    **{0x8C + n: chr(0x2776 + n) for n in range(10)},
}  # fmt: skip
_FONTS = {"symbol": _SYMBOL, "wingdings": _WINGDINGS}


def symbol(code: str | None, font: str | None) -> str:
    """The character for a hexadecimal code of a font; a bullet for glyphs that mean nothing without their font."""
    try:
        number = int(code or "", 16)
    except ValueError:
        return ""
    if 0xF000 <= number <= 0xF0FF or number <= 0xFF:
        known = _FONTS.get((font or "").lower(), {}).get(number & 0xFF)
        if known is not None:
            return known
    return "•" if 0xE000 <= number <= 0xF8FF else chr(number) if 31 < number < 0x110000 else ""
