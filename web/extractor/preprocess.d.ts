/**
 * From pixels to the extractor's inputs, one for each of its views: a rectangle
 * of the picture, alpha over white, reduced or enlarged to size x size, RGB in
 * 0..255 and nothing else.
 *
 * The filter is the antialiased triangle, on each axis its own: a tap at source
 * pixel j weighs
 *     w_ij = max(0, 1 - |j + 1/2 - c_i| / max(1, r)),  c_i = (i + 1/2) r,  r = side/size,
 * where side is the rectangle's extent on that axis, normalised over j; for
 * r <= 1 that is plain bilinear interpolation with half-pixel centres. Rows
 * first, then columns, each rounded to whole numbers: of eight variants tried
 * this one repeats the reference embeddings best (smallest cosine similarity
 * 0.99996; without antialiasing 0.987).
 *
 * Pure and without a document, so the page and Node share every bit of it.
 * Pictures come in bands of rows, each read once for all views, so that a
 * 50-megapixel photograph never has to stand in memory a second time.
 */
export type Pixels = {
    data: Uint8Array | Uint8ClampedArray;
    width: number;
    height: number;
};
export type View = {
    name: string;
    share?: number;
};
export type Recipe = {
    inputSize: number;
    views: View[];
};
export type Rectangle = {
    x: number;
    y: number;
    width: number;
    height: number;
};
/**
 * All that the numbers depend on beside the network, as text to be hashed.
 * @param {Recipe} recipe
 */
export declare function recipeText({ inputSize, views }: Recipe): string;
/**
 * Where a view looks in a picture of width x height.
 * @param {View} view @param {number} width @param {number} height
 * @returns {Rectangle}
 */
export declare function rectangleOf({ share }: View, width: number, height: number): Rectangle;
/**
 * Whole picture at once. Cost: about 6 multiplications for each pixel of each view.
 * @param {Pixels} pixels data holds 4 width height bytes
 * @param {number} size edge of the squares to answer
 * @param {View[]} views
 * @returns {Float32Array[]} for each view size*size*3, row major, RGB
 */
export declare function preprocess({ data, width, height }: Pixels, size: number, views: View[]): Float32Array[];
/** Reduces one picture that arrives from top to bottom to all its views. */
export declare class Reducer {
    width: number;
    height: number;
    parts: Part[];
    rows: number;
    line: Uint8Array<ArrayBuffer>;
    /**
     * @param {number} width @param {number} height of the picture
     * @param {number} size edge of the results @param {View[]} views
     */
    constructor(width: number, height: number, size: number, views: View[]);
    /** @param {Uint8Array | Uint8ClampedArray} rgba count rows of width pixels @param {number} count */
    addRows(rgba: Uint8Array | Uint8ClampedArray, count: number): void;
    /** @returns {Float32Array[]} for each view size*size*3 */
    finish(): Float32Array[];
}
/** One rectangle of the picture on its way to a square. */
declare class Part {
    rectangle: Rectangle;
    size: number;
    across: Taps;
    down: Taps;
    /** Rows already reduced in width: height x size x 3. */
    narrow: Uint8Array<ArrayBuffer>;
    /** @param {Rectangle} rectangle @param {number} size */
    constructor(rectangle: Rectangle, size: number);
    /** @param {Uint8Array} line the picture's row, RGB @param {number} row its number */
    addRow(line: Uint8Array, row: number): void;
    /** @returns {Float32Array} size*size*3 */
    finish(): Float32Array;
}
export type Taps = {
    first: Int32Array;
    count: Int32Array;
    weights: Float64Array;
    most: number;
};
export {};
