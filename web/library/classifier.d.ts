export type Vector = import('./vectors.js').Vector;
export type Engine = import('./engine.js').Engine;
export type Extractor<Input> = {
    /**
     * names network, version and views: what was taught with one is not comparable with another
     */
    id?: string;
    sha256?: string;
    embed: (input: Input) => Vector | Promise<Vector>;
};
export type Options<Input = unknown> = {
    /**
     * for what is no vector
     */
    extractor?: Extractor<Input> | ((input: Input) => Vector | Promise<Vector>);
    /**
     * a prior file that was learned for the
     * extractor, or where it is; without one a prior made by hand serves, for vectors of any length
     */
    prior?: ArrayBuffer | ArrayBufferView | Response | URL | string;
    /**
     * fully Bayesian (the default), or the mode of the posterior
     */
    inference?: 'fb' | 'map';
    /**
     * one covariance for all classes in place of one each
     */
    pooled?: boolean;
    /**
     * probability of none of these beforehand, from 0 (never) to below 1; 0.2 if left out
     */
    nonePrior?: number;
    /**
     * written into files
     */
    name?: string;
};
export type Prediction = {
    /**
     * the most probable class, whatever the probability of none
     */
    label: string;
    /**
     * of each class; with `none` they sum to one
     */
    probabilities: Record<string, number>;
    /**
     * probability that it is of none of the classes
     */
    none: number;
};
export type LeftOut = {
    id: number;
    /**
     * its own class
     */
    label: string;
    /**
     * null for the only example of all
     */
    prediction: Prediction | null;
};
export type Suggestion = {
    index: number;
    doubt: number;
    prediction: Prediction;
};
export type CallOptions = {
    signal?: AbortSignal;
};
/**
 * Creates a classifier that knows no class yet.
 *
 * @template [Input=unknown]
 * @param {Options<Input>} [options]
 * @returns {Promise<Classifier<Input>>}
 */
export declare function createClassifier<Input = unknown>(options?: Options<Input>): Promise<Classifier<Input>>;
/**
 * Opens what `save` wrote, or what the page of metaqda exported.
 *
 * The prior that it names is taken if a classifier of this realm was created with it; else `options.prior`
 * must be its file. Another prior there serves in its place.
 *
 * @template [Input=unknown]
 * @param {ArrayBuffer | ArrayBufferView | Response | URL | string} file
 * @param {Pick<Options<Input>, 'extractor' | 'prior'>} [options]
 * @returns {Promise<Classifier<Input>>}
 */
export declare function openClassifier<Input = unknown>(file: ArrayBuffer | ArrayBufferView | Response | URL | string, options?: Pick<Options<Input>, 'extractor' | 'prior'>): Promise<Classifier<Input>>;
/**
 * A classifier. Everything but what reads pictures is synchronous and quick; methods for pictures return promises.
 * Get one from `createClassifier` or `openClassifier`.
 *
 * @template [Input=unknown]
 */
export declare class Classifier<Input = unknown> {
    #private;
    /** The vector of an input. @param {Input | Vector} x @param {CallOptions} [options] @returns {Promise<ArrayLike<number>>} */
    embed(x: Input | Vector, { signal }?: CallOptions): Promise<ArrayLike<number>>;
    /**
     * Adds an example to a class, which comes into being with its first one, and returns the example's id. Examples of
     * a class with the same `group` are frames of one burst, or views of one thing, and count as one.
     *
     * @param {Input | Vector} x @param {string} label @param {{group?: string} & CallOptions} [options]
     * @returns {Promise<number>}
     */
    addExample(x: Input | Vector, label: string, options?: {
        group?: string;
    } & CallOptions): Promise<number>;
    /**
     * `addExample` for a vector.
     *
     * @param {Vector} vector @param {string} label @param {{group?: string}} [options]
     * @returns {number}
     */
    addExampleSync(vector: Vector, label: string, { group }?: {
        group?: string;
    }): number;
    /** Removes one example: what is left answers as if it had never been there. @param {number} id */
    removeExample(id: number): void;
    /** Adds a class without examples. @param {string} label */
    addClass(label: string): void;
    /** Removes a class with its examples. @param {string} label */
    removeClass(label: string): void;
    /** Changes a label and nothing else. @param {string} label @param {string} to */
    renameClass(label: string, to: string): void;
    /** Takes back the last change of classes or examples, up to a hundred of them; false if there is none. @returns {boolean} */
    undo(): boolean;
    /**
     * What x is, and how surely.
     *
     * @param {Input | Vector} x @param {CallOptions} [options]
     * @returns {Promise<Prediction>}
     */
    predict(x: Input | Vector, options?: CallOptions): Promise<Prediction>;
    /** `predict` for a vector. @param {Vector} vector @returns {Prediction} */
    predictSync(vector: Vector): Prediction;
    /**
     * `predict` for a vector without making anything: stores the probabilities of the classes in the order of `labels`
     * and returns that of none.
     *
     * @param {Float64Array | Float32Array | number[]} dst @param {Vector} vector
     * @returns {number}
     */
    predictInto(dst: Float64Array | Float32Array | number[], vector: Vector): number;
    /**
     * `predict` for many, in their order, leaving the thread free in between.
     *
     * @param {Iterable<Input | Vector>} batch
     * @param {{onProgress?: (progress: {done: number, total: number}) => void} & CallOptions} [options]
     * @returns {Promise<Prediction[]>}
     */
    classify(batch: Iterable<Input | Vector>, { onProgress, signal }?: {
        onProgress?: (progress: {
            done: number;
            total: number;
        }) => void;
    } & CallOptions): Promise<Prediction[]>;
    /**
     * Which of a batch tell most when they are labelled: those that the classifier doubts most, first.
     *
     * @param {Iterable<Input | Vector>} batch
     * @param {{count?: number} & Parameters<Classifier<Input>['classify']>[1]} [options] count: how many, all if left out
     * @returns {Promise<Suggestion[]>}
     */
    suggest(batch: Iterable<Input | Vector>, options?: {
        count?: number;
    } & Parameters<Classifier<Input>['classify']>[1]): Promise<Suggestion[]>;
    /**
     * Leaves each example out in turn, exactly: how well the classifier knows its own classes. Frames of one burst are
     * left out together.
     *
     * @returns {LeftOut[]}
     */
    leaveOneOut(): LeftOut[];
    /** Names of the classes in the order they were added. @returns {string[]} */
    get labels(): string[];
    /** How many examples each class has. @returns {Record<string, number>} */
    get counts(): Record<string, number>;
    /** Ids of a class's examples. @param {string} label @returns {number[]} */
    examples(label: string): number[];
    /** Numbers per vector, 0 while no example and no prior has settled it. @returns {number} */
    get dimension(): number;
    /** Settings in force. @returns {{inference: 'fb' | 'map', pooled: boolean, nonePrior: number}} */
    get settings(): {
        inference: 'fb' | 'map';
        pooled: boolean;
        nonePrior: number;
    };
    /** Changes settings; what is left out stays. @param {Partial<Classifier<Input>['settings']>} changes */
    configure(changes: Partial<Classifier<Input>['settings']>): void;
    /** The bytes of a file: vectors, classes and settings, no pictures; a prior is named in it, not held. @returns {Uint8Array<ArrayBuffer>} */
    save(): Uint8Array<ArrayBuffer>;
    /**
     * A new classifier with what both were taught, under the prior and the settings of this one. Classes of the same
     * label become one.
     *
     * @param {Classifier<any>} other
     * @returns {Classifier<Input>}
     */
    merge(other: Classifier<any>): Classifier<Input>;
    /** Frees what the classifier holds. With the last one of a realm the engine's memory is free. Calls afterwards throw. */
    dispose(): void;
}
