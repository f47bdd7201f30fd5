// @ts-check
/**
 * Whether bytes, or an array, still have their numbers: their buffer was not transferred to another thread, or made
 * smaller. Anything else counts as attached.
 *
 * @param {unknown} x
 */
export function isAttached(x) {
  try {
    if (x instanceof ArrayBuffer) new Uint8Array(x);
    else if (x instanceof DataView)
      return x.byteLength >= 0; // or it throws
    else if (ArrayBuffer.isView(x)) /** @type {Uint8Array} */ (x).values();
    return true;
  } catch {
    return false;
  }
}
