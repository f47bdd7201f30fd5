// @ts-check
/**
 * The methods of the Go program for a page (wasm/page_js.go). The file has types only. Teaching and predicting go
 * through `exports`, whose session is classifier 0.
 *
 * Every method of Engine returns a promise. A refused call rejects with an Error: its `code` is a
 * short word, its `message` a sentence that names the remedy. The codes 'session', 'class', 'label'
 * and 'changed' mean that another tab was first. The engine has then undone its own change.
 *
 * @typedef {'probability'|'taught'} SortOrder
 *
 * @typedef {object} Example
 * @property {string} id
 * @property {Uint8Array} [thumbnail] encoded picture (JPEG, PNG or WebP); only in Changes, and only if the example has one
 *
 * @typedef {object} ClassState
 * @property {string} id
 * @property {string} name
 * @property {Example[]} examples in the order added, but the frames of a group stand together
 * @property {number[]} bursts number of examples in each burst, the oldest burst first; a burst is one picture with its near-copies, which may stand
 *   apart among `examples`
 * @property {number[]} [firsts] where the first example of each burst stands among `examples`; not in Changes
 * @property {string} [actions] what happens when it comes and goes, as web/ui/then/actions.js writes it; only if something does
 *
 * @typedef {object} PriorState
 * @property {string} sha256
 * @property {string} name
 * @property {boolean} site whether it is the default prior, for sessions without a choice
 * @property {Record<string, string>} facts
 * @property {string} message why another prior is used than the one chosen for the session, else
 * empty
 *
 * @typedef {object} EngineState
 * @property {string} sessionId
 * @property {string} sessionName
 * @property {SortOrder} sort
 * @property {number} nonePrior prior probability of none-of-these, in [0, 1)
 * @property {string} actions what happens when none of these comes and goes, empty for nothing
 * @property {number} dimension numbers per embedding
 * @property {string} undo the change that undo would take back ("remove Banana"), empty if there is none
 * @property {string} undoId the id of that step
 * @property {string} redo the change that redo would repeat, empty if there is none
 * @property {PriorState} prior
 * @property {ClassState[]} classes
 * @property {{id: string, sha256: string, message: string, chosen: boolean}} extractor of the session's pictures, empty if not
 *   known; `message` says why new pictures cannot be compared with them, else it is empty; chosen: the session has no examples,
 *   and another extractor than the page's was chosen for it
 * @property {{kept: boolean, message: string, vanished: string, persistent: ''|'yes'|'no'}} storage kept: whether changes outlive the tab;
 * message: why not; vanished: a sentence about sessions that were lost since the last visit, or that wait for room; persistent: whether the
 * browser promised not to clear the data by itself, empty before it was asked
 * @property {number} saved when the session was last saved to a file, in milliseconds since 1970, 0 for never
 * @property {number} updated when it was last changed; after `saved` if the file lacks a change
 * @property {number} damaged how many stored records of the session cannot be used
 * @property {number} followed how many times changes of other tabs were applied
 *
 * The difference between two revisions of the state.
 *
 * @typedef {object} Changes
 * @property {number} revision pass it to the next call
 * @property {Omit<EngineState, 'classes'>} state
 * @property {ClassState[]|null} classes all classes if no steps lead from the page's revision, else null
 * @property {Step[]} steps changes of classes and examples, in order
 *
 * `class` is the id of the class.
 *   put-class    adds the class, or changes its name, place or actions
 *   drop-class   removes the class and its examples
 *   put-example  adds an example at a place of the class
 *   drop-example removes an example
 *   put-bursts   sets the sizes of all bursts; put-burst sets the one at a place
 *
 * @typedef {{class: string} & ({do: 'put-class', name: string, at: number, actions?: string} | {do: 'drop-class'} | {do: 'put-example', at: number, example: Example}
 *   | {do: 'drop-example', example: Example} | {do: 'put-bursts'|'put-burst', at: number, sizes?: number[]})} Step
 *
 * @typedef {object} SessionInfo
 * @property {string} id
 * @property {string} name
 * @property {number} created when it was made, in milliseconds since 1970, as are the next two
 * @property {number} updated when it was last changed
 * @property {number} saved when it was last saved to a file, 0 for never
 * @property {number} classes
 * @property {number} examples
 * @property {string} extractor its sha256, empty if not known
 *
 * @typedef {object} Prediction
 * @property {string} label the most probable class, whatever the probability of none
 * @property {Record<string, number>} probabilities of each class; with `none` they sum to one; from 100 classes on made when first read
 * @property {number} none probability that it is of none of the classes
 * @property {string | null} decision the decision: a class, or null if none of these is at least 34 % probable
 * @property {boolean} doubtful whether a person should check it: the decision is less than 85 % probable, or there is nothing
 *   to compare with: one class is taught, and it has fewer than 3 examples or `nonePrior` is 0
 * @property {string} headline one sentence, which names the decision; of two answers the more probable first
 * @property {string | null} first label of the answer that the headline names first, null for none of these
 *
 * @typedef {object} WatchEvent something came or went before the camera or the microphone
 * @property {string} label of the class
 * @property {boolean} here true: it has come; false: it has gone
 * @property {number} since when that began, not later than the answer that showed it. `frame` counts seconds since 1970; a watch has the
 *   seconds that `next` was given
 * @property {number} probability that it is here, or that it is gone, by all answers so far
 *
 * @typedef {object} Live
 * @property {Prediction|null} answer null if there was nothing to predict, or if no class has an example
 * @property {WatchEvent[]} events mostly none
 * @property {string} here label of the class that is here, empty for none
 *
 * @typedef {object} Engine
 * @property {() => Promise<EngineState>} state the whole state
 * @property {(revision: number) => Promise<Changes>} changes since a revision, from 0 everything
 * @property {(exampleIds: string[]) => Promise<(Uint8Array|null)[]>} thumbnails null where there is none; a large
 *   session's state comes without them
 * @property {() => Promise<{undo: string}>} kept resolves once the changes by the calls of `exports` just before it are stored. `undo` is the id of
 *   the step, empty without one or within `beginStep` and `endStep`. Rejects if another tab was quicker
 * @property {() => Promise<unknown>} ready waits until all examples are enrolled: from then on answers come at once
 * @property {(id?: string) => Promise<unknown>} beginStep groups all changes until endStep into one undo step: a new one, or the one of an id that
 *   endStep returned
 * @property {() => Promise<{undo: string}>} endStep the id of the step is empty if nothing was changed
 * @property {() => Promise<unknown>} forgetUndo clears the undo history: removed pictures are gone then
 * @property {(embedding: Float32Array|null) => Promise<Prediction|null>} show predicts, null while no class has an example. It shows the
 *   answer in the page's meters now and after every later change; null shows none
 * @property {(embedding: Float32Array|null, perHour?: number) => Promise<Live>} frame predicts the next frame of a live view, and returns what came
 *   and went; perHour: the false events allowed per hour, one if left out. The page's meters follow the class that is here and do not flicker. The
 *   first call after `show` begins a new live view
 * @property {(sort: SortOrder) => Promise<unknown>} order sets the order in which classes are shown
 * @property {() => Promise<SessionInfo[]>} sessions
 * @property {(name: string) => Promise<{id: string}>} newSession
 * @property {(id: string) => Promise<unknown>} openSession
 * @property {(id: string) => Promise<unknown>} deleteSession
 * @property {(id: string, name: string) => Promise<unknown>} renameSession
 * @property {() => Promise<Uint8Array<ArrayBuffer>>} saveSession the file of the open session; notes that it was saved
 * @property {(options: {pictures: boolean}) => Promise<Uint8Array>} sharedSession the file of the open session, to share; does
 *   not note that it was saved
 * @property {() => Promise<Uint8Array>} damaged the records that cannot be used, as a file of JSON
 * @property {(extractor: Identity) => Promise<unknown>} useExtractor sets the extractor of new pictures. A session of another
 *   extractor stays as it is, and refuses to add and to predict with the code 'extractor'
 * @property {(extractor: Identity) => Promise<unknown>} chooseExtractor does the same for one that a person chose. The open session
 *   keeps it, also without examples
 * @property {(bytes: Uint8Array, extractor?: Identity) => Promise<{id: string, notice: string}>} importSession
 *   refuses a file of another extractor; the notice is a sentence to show, or empty
 * @property {(source: {url: string, sha256: string}) => Promise<unknown>} usePrior
 * @property {(bytes: Uint8Array, extractor?: Identity) => Promise<{undo: string, notice: string}>} importPrior as importSession
 * @property {() => Promise<Uint8Array>} exportPrior
 * @property {() => Promise<Uint8Array|null>} learnedPrior the prior in use, null for one made by hand. Rejects if another extractor read the pictures
 * @property {() => Promise<Uint8Array[]>} otherSessions files of the other sessions of the same extractor, without pictures
 * @property {() => Promise<unknown>} resetPrior
 * @property {(event: 'change', listener: () => void) => unknown} on calls the listener after each change, also of another tab
 * @property {(event: 'change', listener: () => void) => unknown} off ends what `on` began with this listener
 * @property {{none: number, sure: number}} bounds of decisions, in percent: none of these from `none` on, doubtful below `sure`
 *
 * @typedef {{id: string, sha256: string}} Identity of an extractor
 */

/** @typedef {{accuracy: number, unknown: number, loss: number}} Measured on classes left out of learning, with one and two pictures each. `unknown`: geometric mean of p(none) over pictures of unknown classes. `loss`: cross-entropy of all answers, in nats */
/**
 * The result of learning.
 *
 * @typedef {object} Learned
 * @property {Uint8Array|null} prior a file for importPrior; null if the new prior is no better
 * @property {number} classes number of classes learned from
 * @property {number} sessions
 * @property {Measured} before by the prior at the start
 * @property {Measured} after
 */
/**
 * The answers for n pictures. `probabilities` has n rows: none of these, then the classes. It is null while no class has a
 * picture. `taken` has the index of each decision, -1 for none of these. `doubtful` has 1 for each doubtful decision.
 *
 * @typedef {{classes: string[], probabilities: Float64Array|null, taken: Int32Array, doubtful: Uint8Array, headlines: string[]}} Answers
 */

/**
 * How to start an engine's worker: the content of the first message, and the worker.
 *
 * @typedef {{modules: Modules, runtime: string, name: string, worker: () => Worker}} Thread
 */

/**
 * The engine of a window. `memory` returns the bytes that the program holds.
 *
 * @typedef {Engine & {exports: import('./exports.js').Exports, modules: Modules, thread: Thread, memory: () => Promise<number>}} LoadedEngine
 */
/** @typedef {(progress: {loaded: number, total: number}) => void} OnProgress in bytes; total is 0 until it is known */
/** @typedef {{engine: WebAssembly.Module, kernels: WebAssembly.Module|null}} Modules compiled once, for a window and its workers */
/** @typedef {Record<string, (...args: any[]) => Promise<any>>} Methods */
/** @typedef {{argv: string[], env: Record<string, string>, importObject: Record<string, any>, run: (instance: WebAssembly.Instance) => Promise<void>, exited: boolean, exit: (code: number) => void, _scheduledTimeouts: Map<number, ReturnType<typeof setTimeout>>}} GoProgram */
/** @typedef {{Go: new () => GoProgram, scope: Record<string, any>}} Runtime of Go, and the object that serves as its global scope */
export {};
