// @ts-check
/**
 * Bytes as text of HTML and of JavaScript in UTF-8, 7 bits to a byte: a seventh smaller than base64. The idea is that of base-122
 * (K. Albertson, 2016).
 *
 * Seven bits are written as the ASCII character of this number. Three characters cannot stand in a script element: reading HTML
 * changes NUL and CR, and < may begin a tag. Each of these is joined with the next seven bits into one character of two bytes,
 * U+0100 and up. So these 14 bits take two bytes, too. If one of them is the last, it becomes U+0280 and up.
 */
const OUT = [0, 13, 60];
const [PAIR, LONE] = [0x100, 0x280];

/** @param {Uint8Array} bytes @returns {string} */
export function base128(bytes) {
  const count = Math.ceil((8 * bytes.length) / 7);
  /** @param {number} i the i-th seven bits, the high ones first; zeros follow the last byte */
  const seven = (i) => {
    const [at, shift] = [Math.floor((7 * i) / 8), (7 * i) % 8];
    return (((bytes[at] << 8) | (bytes[at + 1] ?? 0)) >> (9 - shift)) & 127;
  };
  const text = new Uint8Array(count + 1);
  let length = 0;
  for (let i = 0; i < count; i++) {
    const value = seven(i);
    const out = OUT.indexOf(value);
    if (out < 0) {
      text[length++] = value;
      continue;
    }
    const code = ++i < count ? PAIR + (out << 7) + seven(i) : LONE + out;
    text[length++] = 0xc0 | (code >> 6); // as UTF-8 has it
    text[length++] = 0x80 | (code & 63);
  }
  return new TextDecoder().decode(text.subarray(0, length));
}

/** The inverse. @param {string} text @returns {Uint8Array<ArrayBuffer>} */
export function bytesOf(text) {
  const sevens = new Uint8Array(2 * text.length);
  let count = 0;
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    if (code < 128) {
      sevens[count++] = code;
    } else if (code >= LONE) {
      sevens[count++] = OUT[code - LONE];
    } else {
      sevens[count++] = OUT[(code - PAIR) >> 7];
      sevens[count++] = code & 127;
    }
  }
  const bytes = new Uint8Array(Math.floor((7 * count) / 8));
  for (let i = 0; i < bytes.length; i++) {
    const [at, shift] = [Math.floor((8 * i) / 7), (8 * i) % 7];
    bytes[i] = ((sevens[at] << 7) | sevens[at + 1]) >> (6 - shift);
  }
  return bytes;
}
