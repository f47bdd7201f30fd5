// @ts-check
/**
 * What a picture's embedding would be without some of what was looked at. The
 * embedding is a mean over the cells of feature maps, and over views: so without a
 * part of the picture it is the mean over the other cells,
 *     (n mean - sum_c w_c x_c) / (n - sum_c w_c),  w_c the share of cell c's square in the part,
 * and no run of the network is needed. A cell counts where its square lies, though it has
 * seen some of what is around.
 *
 * Where a network has no such cells, each part is painted over in turn with the
 * picture's mean colour, and the network runs once for each.
 */

/** @typedef {import('./preprocess.js').Rectangle} Rectangle */
/** @typedef {{data: Float32Array, height: number, width: number, channels: number}} FeatureMap row major, channels last */

/**
 * @param {{maps: FeatureMap[], rectangle: Rectangle}[]} views what the network made of each, and where it looked
 * @param {number} width of the picture @param {number} height
 * @param {number} grid parts across and down
 * @returns {{embedding: Float32Array, without: Float32Array[]}} of all cells, and without each part, row by row
 */
export function leaveOutParts(views, width, height, grid) {
  const dimension = views[0].maps.reduce((sum, { channels }) => sum + channels, 0);
  const make = () => new Float32Array(dimension);
  const embedding = make();
  const without = Array.from({ length: grid * grid }, make);
  for (const { maps, rectangle } of views) {
    let offset = 0;
    for (const map of maps) {
      const down = sharesOf(map.height, rectangle.y, rectangle.height, height, grid);
      const across = sharesOf(map.width, rectangle.x, rectangle.width, width, grid);
      addMap(map, down, across, offset, 1 / views.length, embedding, without);
      offset += map.channels;
    }
  }
  return { embedding, without };
}

/** @typedef {{part: number, share: number}[][]} Shares for each cell of an axis the parts that it lies in, and how much of it */

/**
 * @param {number} cells on this axis @param {number} from @param {number} side where they begin in the picture and how far they go
 * @param {number} whole side of the picture @param {number} grid parts that it has
 * @returns {Shares}
 */
function sharesOf(cells, from, side, whole, grid) {
  return Array.from({ length: cells }, (_, i) => {
    const [start, end] = [i, i + 1].map((edge) => grid * (from + side * edge / cells) / whole);
    const parts = [];
    for (let part = Math.floor(start); part < Math.min(grid, end); part++) {
      const share = (Math.min(end, part + 1) - Math.max(start, part)) / (end - start);
      if (share > 1e-9) parts.push({ part, share }); // less is rounding
    }
    return parts;
  });
}

/**
 * Adds one map's share to all embeddings.
 *
 * @param {FeatureMap} map @param {Shares} down @param {Shares} across
 * @param {number} offset @param {number} weight
 * @param {Float32Array} embedding @param {Float32Array[]} without
 */
function addMap({ data, channels }, down, across, offset, weight, embedding, without) {
  const grid = Math.round(Math.sqrt(without.length));
  const all = new Float64Array(channels);
  const sums = without.map(() => new Float64Array(channels));
  const counts = new Float64Array(without.length);
  let from = 0;
  for (const rows of down) {
    for (const columns of across) {
      const cell = data.subarray(from, from += channels);
      for (let c = 0; c < channels; c++) all[c] += cell[c];
      for (const row of rows) {
        for (const column of columns) {
          const part = row.part * grid + column.part;
          const share = row.share * column.share;
          counts[part] += share;
          for (let c = 0; c < channels; c++) sums[part][c] += share * cell[c];
        }
      }
    }
  }
  const n = down.length * across.length;
  for (let c = 0; c < channels; c++) embedding[offset + c] += weight * all[c] / n;
  sums.forEach((sum, part) => {
    const left = n - counts[part];
    for (let c = 0; c < channels; c++) without[part][offset + c] += weight * (left > 1e-9 ? (all[c] - sum[c]) / left : all[c] / n);
  });
}

/**
 * @param {Float32Array[]} inputs one for each view, edge x edge x 3
 * @param {Rectangle[]} rectangles where each view looks
 * @param {{width: number, height: number, grid: number}} picture its size, and parts across and down
 * @param {(inputs: Float32Array[]) => Promise<Float32Array>} embed
 * @param {() => Promise<void>} pause between runs
 * @returns {Promise<{embedding: Float32Array, without: Float32Array[]}>} of the whole, and without each part, row by row
 */
export async function coverParts(inputs, rectangles, { width, height, grid }, embed, pause) {
  const embedding = await embed(inputs);
  const without = [];
  for (let part = 0; part < grid * grid; part++) {
    await pause();
    const hole = { x: (part % grid) * width / grid, y: Math.floor(part / grid) * height / grid, width: width / grid, height: height / grid };
    const covered = inputs.map((input, i) => cover(input, rectangles[i], hole));
    without.push(covered.every((input, i) => input === inputs[i]) ? embedding : await embed(covered));
  }
  return { embedding, without };
}

/**
 * What a view would be with a hole in the picture: itself where it does not look there.
 *
 * @param {Float32Array} input @param {Rectangle} rectangle @param {Rectangle} hole
 */
function cover(input, rectangle, hole) {
  const edge = Math.round(Math.sqrt(input.length / 3));
  const span = (/** @type {'x' | 'y'} */ from, /** @type {'width' | 'height'} */ side) =>
    [hole[from], hole[from] + hole[side]].map((at) => Math.min(edge, Math.max(0, Math.round(edge * (at - rectangle[from]) / rectangle[side]))));
  const [left, right] = span('x', 'width');
  const [top, bottom] = span('y', 'height');
  if (left >= right || top >= bottom) return input;
  const mean = [0, 1, 2].map((c) => input.reduce((sum, value, i) => (i % 3 === c ? sum + value : sum), 0) / (edge * edge));
  const covered = input.slice();
  for (let row = top; row < bottom; row++) for (let column = left; column < right; column++) covered.set(mean, 3 * (row * edge + column));
  return covered;
}
