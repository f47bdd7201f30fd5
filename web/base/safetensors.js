// @ts-check
/**
 * Metadata and tensors of a safetensors file. The file begins with eight bytes for the length of the header. Then come the header, in
 * JSON, and the numbers.
 */

/** @typedef {{__metadata__?: Record<string, string>} & Record<string, {shape: number[], data_offsets: [number, number]}>} Header */

/** @param {Uint8Array} bytes @returns {{header: Header, numbers: Uint8Array}|null} null for another kind of file; no entries for a malformed header: the engine then says what is wrong */
function parts(bytes) {
  const length = bytes.length > 8 ? Number(new DataView(bytes.buffer, bytes.byteOffset).getBigUint64(0, true)) : Infinity;
  if (length > bytes.length - 8 || bytes[8] !== 0x7b) return null;
  const numbers = bytes.subarray(8 + length);
  try {
    return { header: JSON.parse(new TextDecoder().decode(bytes.subarray(8, 8 + length))), numbers };
  } catch {
    return { header: /** @type {Header} */ ({}), numbers };
  }
}

/** @param {Uint8Array} bytes @returns {Record<string, string>|null} null for another kind of file, empty for a malformed header */
export function metadataOf(bytes) {
  const file = parts(bytes);
  return file && (file.header.__metadata__ ?? {});
}

/** The shapes of all tensors, by name. @param {Uint8Array} bytes @returns {Record<string, number[]>} */
export function shapesOf(bytes) {
  const { __metadata__, ...tensors } = parts(bytes)?.header ?? {};
  return Object.fromEntries(Object.entries(tensors).map(([name, { shape }]) => [name, shape]));
}

/** The bytes of a tensor, at an address that suits its numbers; none if the file has no such tensor. @param {Uint8Array} bytes @param {string} name */
export function tensorOf(bytes, name) {
  const { header, numbers } = parts(bytes) ?? {};
  return numbers?.slice(...(header?.[name]?.data_offsets ?? [0, 0])) ?? new Uint8Array();
}
