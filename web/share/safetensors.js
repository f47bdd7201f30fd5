// @ts-check
/** Reads safetensors files, as far as those of classifiers need it. */

/** @typedef {{shape: number[], bytes: ArrayBuffer}} Tensor of numbers as the file has them */

/** @param {Uint8Array} file @returns {{meta: Record<string, string>, tensors: Record<string, Tensor>}} */
export function tensorsOf(file) {
  const size = 8 + Number(new DataView(file.buffer, file.byteOffset).getBigUint64(0, true));
  const { __metadata__: meta = {}, ...head } = JSON.parse(new TextDecoder().decode(file.subarray(8, size)));
  return {
    meta,
    tensors: Object.fromEntries(
      Object.entries(head).map(
        ([
          name,
          {
            shape,
            data_offsets: [from, to],
          },
        ]) => [name, { shape, bytes: file.slice(size + from, size + to).buffer }],
      ),
    ),
  };
}
