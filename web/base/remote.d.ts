/**
 * Calls to a worker: RemoteClient in the window, `answer` in the worker. Messages:
 *   window -> worker  {type, id, args}
 *   worker -> window  {type, id, result} or {type: 'error', id, error: {code, message}}, one for each call;
 *                     {type, news} of its own accord
 *
 * Of the libraries comlink comes nearest, but under it a call to a worker that died or hangs never settles, and an
 * error loses its code.
 */
export type ClientOptions = {
    /**
     * of the error when the worker ends, falls silent or is closed
     */
    code: string;
    /**
     * the sentence of that error, where it was not closed
     */
    died: (why: string) => string;
    /**
     * milliseconds to wait while the worker answers nothing; without end if left out
     */
    patience?: number;
    /**
     * makes what a call rejects with
     */
    error?: (code: string, message: string) => Error;
    onNews?: (type: string, news: any) => void;
};
/**
 * @typedef {object} ClientOptions
 * @property {string} code of the error when the worker ends, falls silent or is closed
 * @property {(why: string) => string} died the sentence of that error, where it was not closed
 * @property {number} [patience] milliseconds to wait while the worker answers nothing; without end if left out
 * @property {(code: string, message: string) => Error} [error] makes what a call rejects with
 * @property {(type: string, news: any) => void} [onNews]
 */
/** One worker, asked from the window. Once it has failed or was closed, every call rejects with the reason. */
export declare class RemoteClient {
    #private;
    worker: Worker;
    code: string;
    died: (why: string) => string;
    patience: number | undefined;
    error: (code: string, message: string) => Error;
    onNews: (type: string, news: any) => void;
    /** Why there will be no more answers. @type {Error|null} */
    dead: Error | null;
    /** @param {Worker} worker which this ends @param {ClientOptions} options */
    constructor(worker: Worker, { code, died, patience, error, onNews }: ClientOptions);
    /**
     * @param {string} type
     * @param {unknown} [args] cloned
     * @param {Transferable[]} [transfer] what of them is handed over instead
     * @returns {Promise<any>} rejects with a DataCloneError where args cannot be sent
     */
    ask(type: string, args?: unknown, transfer?: Transferable[]): Promise<any>;
    /** Ends the worker and tells everyone who waits. @param {string} why a sentence */
    close(why: string): void;
}
export type Handlers = Record<string, (args: any) => unknown>;
/** @typedef {Record<string, (args: any) => unknown>} Handlers by the type of message; may be added to */
/**
 * The worker's half: answers each call by the handler of its type.
 *
 * @param {Handlers} handlers
 * @param {{code: string, transfer?: (result: any) => Transferable[], scope?: any}} options code of errors that have
 *   none; what of a result is handed over rather than cloned; replaced in tests
 * @returns {(type: string, news: unknown) => void} tells the window something of the worker's own accord
 */
export declare function answer(handlers: Handlers, { code, transfer, scope }: {
    code: string;
    transfer?: (result: any) => Transferable[];
    scope?: any;
}): (type: string, news: unknown) => void;
/**
 * An error with a short word for programs and a sentence for people.
 *
 * @param {string} code
 * @param {string} message
 */
export declare function failure(code: string, message: string): Error & {
    code: string;
};
