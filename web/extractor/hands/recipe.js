// @ts-check
/**
 * The input of the hand network (MediaPipe's hand_landmark), and the output that is the embedding. The network
 * needs one hand that fills its input. The embedding is the mean over the cells of its last feature map, 672
 * numbers.
 *
 * The network runs several times. The first run is on the whole picture. The next is on the square around the 21
 * landmarks found there, GROWTH times larger, turned so that the fingers point up. This is repeated until the landmarks
 * stay in place, in at most LOOKS runs. If the whole picture leaves doubt, its middle and the picture with a margin are
 * tried too, and the surest run is continued. The embedding is the mean of the outputs of the last two runs, each scaled
 * to length one. If the network takes a hand for a left one, the hand is mirrored in these two runs. So both hands of a
 * person give similar embeddings. With handedness, left and right hands differ, and nothing is mirrored.
 */

/** Must change whenever the embeddings change, for the identity of the extractor. */
export const recipe = 'hands-1';
/** The same with left and right hands told apart. */
export const handed = `${recipe}/handedness`;
export const dimension = 672;

/** Edge of the square that a whole picture is squeezed into, and of the network's input, in pixels. */
export const [EDGE, SIZE] = [512, 224];
const [GROWTH, LOOKS] = [1.6, 5];
/** Mean distance between the landmarks of two runs, in shares of the square's side, up to which they count as the same. */
const SAME = 0.05;
/** Below this probability of a hand in the whole picture two others are tried: a middle, in shares of the shorter side, and the picture with a margin, in shares of the longer one. */
const [DOUBT, INNER, OUTER] = [0.9, 0.6, 1.5];
/** Least probability at which a hand counts as found. */
export const SURE = 0.5;
/** Landmarks: the wrist, and the roots of index, middle and ring finger. */
const [WRIST, INDEX, MIDDLE, RING] = [0, 5, 9, 13];

/** @typedef {{data: Float32Array, width: number, height: number}} Picture EDGE x EDGE x 3, 0 to 255, and the size that it had */
/** @typedef {{x: number, y: number, side: number, angle: number, mirrored: boolean}} Box a square of the picture: its middle and side in pixels, turned clockwise */
/**
 * @typedef {object} Hand
 * @property {Float32Array} embedding
 * @property {number} there how probable it is that this is a hand
 * @property {[x: number, y: number][]} landmarks the 21 points, in shares of the picture's width and height
 */

/**
 * The hand in a picture, as far as there is one. Cost: two to nine runs of the network.
 *
 * @param {{hand: {run: import('../networks.js').Network['run']}}} networks
 * @param {Picture} picture
 * @param {boolean} [handedness] whether left and right hands are told apart
 * @returns {Hand}
 */
export function handIn({ hand: network }, picture, handedness = false) {
  const { width, height } = picture;
  const look = (/** @type {Box} */ box) => {
    const [numbers, points, [there], [right]] = network.run(cut(picture, box));
    const landmarks = Array.from({ length: 21 }, (_, i) => placed(box, points[3 * i] / SIZE - 0.5, points[3 * i + 1] / SIZE - 0.5));
    return { box, numbers, landmarks, there: 1 / (1 + Math.exp(-there)), left: right < 0 };
  };
  const middle = (/** @type {number} */ side) => look({ x: width / 2, y: height / 2, side, angle: 0, mirrored: false });
  let looks = [middle(Math.max(width, height))];
  if (looks[0].there < DOUBT)
    looks = [looks[0], middle(INNER * Math.min(width, height)), middle(OUTER * Math.max(width, height))].sort((a, b) => b.there - a.there).slice(0, 1);
  do looks.unshift(look(boxAround(looks[0].landmarks)));
  while (looks.length < LOOKS && apart(looks[0], looks[1]) > SAME);
  looks = looks.slice(0, 2);
  if (looks[0].left && !handedness) looks = looks.map(({ box }) => look({ ...box, mirrored: true }));
  const embedding = new Float32Array(dimension);
  for (const { numbers } of looks) {
    const length = Math.hypot(...numbers);
    numbers.forEach((value, c) => {
      embedding[c] += value / length / looks.length;
    });
  }
  return { embedding, there: looks[0].there, landmarks: looks[0].landmarks.map(([x, y]) => [x / width, y / height]) };
}

/** @param {{landmarks: [number, number][], box: Box}} look @param {{landmarks: [number, number][]}} former */
const apart = ({ landmarks, box }, former) =>
  landmarks.reduce((sum, [x, y], i) => sum + Math.hypot(x - former.landmarks[i][0], y - former.landmarks[i][1]), 0) / (21 * box.side);

/** The position in the picture of a point of a box. @param {Box} box @param {number} u offset from its middle, in shares of its side @param {number} v @returns {[number, number]} */
function placed({ x, y, side, angle, mirrored }, u, v) {
  const [cos, sin, across, down] = [Math.cos(angle), Math.sin(angle), (mirrored ? -u : u) * side, v * side];
  return [x + cos * across - sin * down, y + sin * across + cos * down];
}

/** @param {[number, number][]} points landmarks in pixels @returns {Box} */
function boxAround(points) {
  const axis = [0, 1].map((c) => points[MIDDLE][c] / 2 + (points[INDEX][c] + points[RING][c]) / 4 - points[WRIST][c]);
  const angle = Math.atan2(axis[0], -axis[1]);
  const [cos, sin] = [Math.cos(angle), Math.sin(angle)];
  const along = [points.map(([x, y]) => cos * x + sin * y), points.map(([x, y]) => cos * y - sin * x)];
  const [u, v] = along.map((values) => (Math.min(...values) + Math.max(...values)) / 2);
  const side = GROWTH * Math.max(1, ...along.map((values) => Math.max(...values) - Math.min(...values)));
  return { x: cos * u - sin * v, y: sin * u + cos * v, side, angle, mirrored: false };
}

/**
 * The content of a box as input of the network: SIZE x SIZE x 3, 0 to 1. Each value is the mean of bilinear samples, as
 * many as it covers pixels. Outside the picture its edge is repeated.
 *
 * @param {Picture} picture @param {Box} box
 */
export function cut({ data, width, height }, box) {
  const result = new Float32Array(3 * SIZE * SIZE);
  const fine = Math.min(4, Math.max(1, Math.round(((box.side / Math.max(width, height)) * EDGE) / SIZE)));
  const [origin, right, down] = [placed(box, -0.5, -0.5), placed(box, 0.5, -0.5), placed(box, -0.5, 0.5)].map(([x, y]) => [
    (x / width) * EDGE,
    (y / height) * EDGE,
  ]);
  const step = (/** @type {number[]} */ to, /** @type {number} */ c) => (to[c] - origin[c]) / (SIZE * fine);
  const [dxu, dyu, dxv, dyv] = [step(right, 0), step(right, 1), step(down, 0), step(down, 1)];
  const scale = 1 / (255 * fine * fine);
  const within = (/** @type {number} */ value) => Math.min(EDGE - 1, Math.max(0, value));
  for (let j = 0; j < SIZE * fine; j++) {
    for (let i = 0; i < SIZE * fine; i++) {
      const x = within(origin[0] + (i + 0.5) * dxu + (j + 0.5) * dxv - 0.5);
      const y = within(origin[1] + (i + 0.5) * dyu + (j + 0.5) * dyv - 0.5);
      const [left, top] = [Math.min(EDGE - 2, Math.floor(x)), Math.min(EDGE - 2, Math.floor(y))];
      const [a, b] = [x - left, y - top];
      const at = 3 * (EDGE * top + left);
      const to = 3 * (SIZE * Math.floor(j / fine) + Math.floor(i / fine));
      for (let c = 0; c < 3; c++) {
        const [first, below] = [at + c, at + c + 3 * EDGE];
        result[to + c] += scale * ((1 - b) * ((1 - a) * data[first] + a * data[first + 3]) + b * ((1 - a) * data[below] + a * data[below + 3]));
      }
    }
  }
  return result;
}
