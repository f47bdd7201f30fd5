// @ts-check
/**
 * What the header of a safetensors file says of it: eight bytes that tell how long a header of JSON is, the header, numbers.
 *
 * @param {Uint8Array} bytes
 * @returns {Record<string, string>|null} null for another kind of file; empty for a malformed header, of which the engine says what is wrong
 */
export function metadataOf(bytes) {
  const length = bytes.length > 8 ? Number(new DataView(bytes.buffer, bytes.byteOffset).getBigUint64(0, true)) : Infinity;
  if (length > bytes.length - 8 || bytes[8] !== 0x7b) return null;
  try {
    return JSON.parse(new TextDecoder().decode(bytes.subarray(8, 8 + length))).__metadata__ ?? {};
  } catch {
    return {};
  }
}
