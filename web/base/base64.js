// @ts-check
/** Bytes as text. @param {Uint8Array} bytes */
export function base64(bytes) {
  const parts = [];
  for (let at = 0; at < bytes.length; at += 0x6000) parts.push(btoa(String.fromCharCode(...bytes.subarray(at, at + 0x6000)))); // a multiple of three
  return parts.join('');
}
