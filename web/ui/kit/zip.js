// @ts-check
/** Zip files, by fflate. */
import { zipSync } from 'fflate';

/** Bytes of the end record. */
const END = 22;

/** Where a zip file says how a file is packed: the method and the packed size, in its header and in its directory entry. */
const PACKED = { header: [8, 18], line: [10, 20] };
const DEFLATE = 8;
/** Says that Unix made the files, and that all may read them. Otherwise unzip changes letters of names. */
const UNIX = { os: 3, attrs: 0o644 << 16 };

/**
 * A zip file, written file by file. It refers to the files and does not copy them. The browser reads
 * them when it saves the zip, so hundreds of photographs take no memory.
 */
export class Zip {
  /** @type {BlobPart[]} */
  #parts = [];
  /** The directory entry of each file. @type {Uint8Array<ArrayBuffer>[]} */
  #directory = [];
  #length = 0;
  #end = new Uint8Array(END);

  /** @param {string} path with slashes, not in use yet @param {Blob} file @param {{smaller?: boolean}} [options] smaller: compresses it, which pays for programs and not for photographs */
  async add(path, file, { smaller = false } = {}) {
    const alone = zipSync({ [path]: new Uint8Array(await file.arrayBuffer()) }, { level: 0, ...UNIX }); // header, file, line, end
    const view = new DataView(alone.buffer);
    const header = 30 + view.getUint16(26, true) + view.getUint16(28, true);
    const line = alone.slice(header + file.size, -END);
    const parts = { header: alone.slice(0, header), line };
    const content = smaller ? await new Response(file.stream().pipeThrough(new CompressionStream('deflate-raw'))).blob() : file;
    if (smaller) {
      for (const [part, [method, size]] of Object.entries(PACKED)) {
        const fields = new DataView(parts[/** @type {'header'|'line'} */ (part)].buffer);
        fields.setUint16(method, DEFLATE, true);
        fields.setUint32(size, content.size, true);
      }
    }
    new DataView(line.buffer).setUint32(42, this.#length, true); // where its header begins
    this.#parts.push(parts.header, content);
    this.#directory.push(line);
    this.#end = alone.slice(-END);
    this.#length += header + content.size;
  }

  /** The zip of all added files, at least one. */
  end() {
    const { length } = this.#directory;
    const view = new DataView(this.#end.buffer);
    for (const at of [8, 10]) view.setUint16(at, length, true);
    view.setUint32(
      12,
      this.#directory.reduce((sum, line) => sum + line.length, 0),
      true,
    );
    view.setUint32(16, this.#length, true);
    return new Blob([...this.#parts, ...this.#directory, this.#end], { type: 'application/zip' });
  }
}
