export type Classifier = import('./classifier.js').Classifier;
export type Vector = import('./vectors.js').Vector;
export type WorkerOptions = Pick<import('./classifier.js').Options, 'inference' | 'pooled' | 'nonePrior' | 'name'> & {
    prior?: ArrayBuffer | ArrayBufferView | string | URL;
};
/** @typedef {import('./classifier.js').Classifier} Classifier */
/** @typedef {import('./vectors.js').Vector} Vector */
/** @typedef {Pick<import('./classifier.js').Options, 'inference' | 'pooled' | 'nonePrior' | 'name'> & {prior?: ArrayBuffer | ArrayBufferView | string | URL}} WorkerOptions */
/** A worker that holds classifiers. */
export declare class ClassifierWorker {
    #private;
    /**
     * @param {object} [options]
     * @param {Worker} [options.worker] started by the caller, where a bundler must see its address
     * @param {WebAssembly.Module | string} [options.wasm] address of metaqda.wasm, or the compiled engine
     */
    constructor({ worker, wasm }?: {
        worker?: Worker;
        wasm?: WebAssembly.Module | string;
    });
    /** @param {string} type @param {...unknown} args @returns {Promise<any>} */
    ask(type: string, ...args: unknown[]): Promise<any>;
    /** @param {WorkerOptions} [options] @returns {Promise<RemoteClassifier>} */
    createClassifier(options?: WorkerOptions): Promise<RemoteClassifier>;
    /** @param {ArrayBuffer | ArrayBufferView} file @param {Pick<WorkerOptions, 'prior'>} [options] @returns {Promise<RemoteClassifier>} */
    openClassifier(file: ArrayBuffer | ArrayBufferView, options?: Pick<WorkerOptions, 'prior'>): Promise<RemoteClassifier>;
    /** Ends the worker and all its classifiers. */
    terminate(): void;
}
/** A classifier in a worker. */
export declare class RemoteClassifier {
    #private;
    /** @param {Vector} vector @param {string} label @param {{group?: string}} [options] @returns {Promise<number>} */
    addExample(vector: Vector, label: string, options?: {
        group?: string;
    }): Promise<number>;
    /** @param {Vector} vector @returns {Promise<import('./classifier.js').Prediction>} */
    predict(vector: Vector): Promise<import('./classifier.js').Prediction>;
    /** @param {Iterable<Vector>} batch @returns {Promise<import('./classifier.js').Prediction[]>} */
    classify(batch: Iterable<Vector>): Promise<import('./classifier.js').Prediction[]>;
    /** @param {Iterable<Vector>} batch @param {{count?: number}} [options] @returns {Promise<import('./classifier.js').Suggestion[]>} */
    suggest(batch: Iterable<Vector>, options?: {
        count?: number;
    }): Promise<import('./classifier.js').Suggestion[]>;
    /** @returns {Promise<import('./classifier.js').LeftOut[]>} */
    leaveOneOut(): Promise<import('./classifier.js').LeftOut[]>;
    /** @param {number} id @returns {Promise<void>} */
    removeExample(id: number): Promise<void>;
    /** @param {string} label @returns {Promise<void>} */
    addClass(label: string): Promise<void>;
    /** @param {string} label @returns {Promise<void>} */
    removeClass(label: string): Promise<void>;
    /** @param {string} label @param {string} to @returns {Promise<void>} */
    renameClass(label: string, to: string): Promise<void>;
    /** @returns {Promise<boolean>} */
    undo(): Promise<boolean>;
    /** @returns {Promise<Uint8Array<ArrayBuffer>>} */
    save(): Promise<Uint8Array<ArrayBuffer>>;
    /** @returns {Promise<string[]>} */
    labels(): Promise<string[]>;
    /** @returns {Promise<Record<string, number>>} */
    counts(): Promise<Record<string, number>>;
    /** @returns {Promise<void>} */
    dispose(): Promise<void>;
}
