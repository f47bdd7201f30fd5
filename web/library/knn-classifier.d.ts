export type Classifier = import('./classifier.js').Classifier;
export type Rows = {
    shape: [number, number];
    dtype: 'float32';
    dataSync: () => Float32Array;
    data: () => Promise<Float32Array>;
    /**
     * does nothing: nothing is held outside of JavaScript's memory
     */
    dispose: () => void;
    toJSON: () => {
        shape: [number, number];
        values: number[];
    };
};
export type TensorLike = {
    dataSync: () => ArrayLike<number>;
    shape: number[];
};
export type Dataset = Record<string, TensorLike | {
    shape: number[];
    values: ArrayLike<number>;
}>;
/** @typedef {import('./classifier.js').Classifier} Classifier */
/**
 * Rows of numbers, as much of a tensor as a data set needs. It goes through JSON and comes back.
 *
 * @typedef {object} Rows
 * @property {[number, number]} shape
 * @property {'float32'} dtype
 * @property {() => Float32Array} dataSync
 * @property {() => Promise<Float32Array>} data
 * @property {() => void} dispose does nothing: nothing is held outside of JavaScript's memory
 * @property {() => {shape: [number, number], values: number[]}} toJSON
 */
/** @typedef {{dataSync: () => ArrayLike<number>, shape: number[]}} TensorLike */
/** @typedef {Record<string, TensorLike | {shape: number[], values: ArrayLike<number>}>} Dataset what setClassifierDataset takes */
export declare const version = "1.2.6";
export declare class KNNClassifier {
    #private;
    /** @param {TensorLike} example @param {number | string} label */
    addExample(example: TensorLike, label: number | string): void;
    /**
     * @param {TensorLike} input
     * @param {number} [k] has no meaning here: all examples count, each as much as it should
     * @returns {Promise<{label: string, classIndex: number, confidences: {[label: string]: number}}>}
     */
    predictClass(input: TensorLike, k?: number): Promise<{
        label: string;
        classIndex: number;
        confidences: {
            [label: string]: number;
        };
    }>;
    /** @param {number | string} label */
    clearClass(label: number | string): void;
    clearAllClasses(): void;
    /** @returns {{[label: string]: number}} */
    getClassExampleCount(): {
        [label: string]: number;
    };
    /** @returns {number} */
    getNumClasses(): number;
    /** The examples at length one, by label. @returns {{[label: string]: Rows}} */
    getClassifierDataset(): {
        [label: string]: Rows;
    };
    /** @param {Dataset} dataset of getClassifierDataset, of the original, or either after JSON */
    setClassifierDataset(dataset: Dataset): void;
    dispose(): void;
}
/** @returns {KNNClassifier} */
export declare function create(): KNNClassifier;
