// @ts-check
/**
 * The metadata of a safetensors file. The file begins with eight bytes for the length of the header. Then come the header, in
 * JSON, and the numbers.
 *
 * @param {Uint8Array} bytes
 * @returns {Record<string, string>|null} null for another kind of file; empty for a malformed header: the engine then says what is wrong
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
