// @ts-check
/**
 * The methods of the Go program for a page (wasm/page_js.go). The file has types only.
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
 * @property {Example[]} examples in the order added
 * @property {number[]} bursts number of examples in each burst; a burst is one picture with its near-copies
 * @property {string} [actions] what happens when it comes and goes, as web/ui/then/actions.js writes it; only if something does
 *
 * @typedef {object} PriorState
 * @property {string} sha256
 * @property {string} name
 * @property {boolean} site whether it is the default prior, for sessions without a choice
 * @property {Record<string, string>} facts
 * @property {string} message why another prior is used than the session chose, else empty
 *
 * @typedef {object} EngineState
 * @property {string} sessionId
 * @property {string} sessionName
 * @property {SortOrder} sort
 * @property {number} nonePrior prior probability of none-of-these, in [0, 1)
 * @property {string} actions what happens when none of these comes and goes, empty for nothing
 * @property {number} dimension numbers per embedding
 * @property {string} undo the change that undo would take back ("remove Banana"), empty if there is none
 * @property {string} redo the change that redo would repeat, empty if there is none
 * @property {PriorState} prior
 * @property {ClassState[]} classes
 * @property {{id: string, sha256: string, message: string}} extractor of the session's pictures, empty if not
 *   known; `message` says why new pictures cannot be compared with them, else it is empty
 * @property {{kept: boolean, message: string, vanished: string, persistent: ''|'yes'|'no'}} storage
 *   kept: whether changes outlive the tab; message: why not; vanished: a sentence about sessions lost since the last visit, or that wait for room;
 *   persistent: whether the browser promised not to clear the data by itself, empty before it was asked
 * @property {number} saved when the session was last saved to a file, in milliseconds since 1970, 0 for never
 * @property {number} damaged how many stored records of the session cannot be used
 * @property {number} followed how many times changes of other tabs were taken over
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
 * @property {number|string} updated time of the last change
 * @property {number} saved time when it was last saved to a file, 0 for never
 * @property {number} classes
 * @property {number} examples
 * @property {string} extractor its sha256, empty if not known
 *
 * @typedef {object} Prediction
 * @property {{id: string, name: string, probability: number}[]} classes
 * @property {number} none
 * @property {Decision} decision
 *
 * @typedef {object} LiveEvent something came or went before the camera or the microphone
 * @property {string} label of the class
 * @property {boolean} here true: it has come; false: it has gone
 * @property {number} since when that began, in seconds since 1970
 * @property {number} probability that it is here, or that it is gone
 *
 * @typedef {object} Live
 * @property {Prediction|null} answer null where there was nothing to ask about
 * @property {LiveEvent[]} events mostly none
 * @property {string} here label of the class that is here, empty for none
 *
 * @typedef {object} Decision a class or none of these (core/decide.go)
 * @property {string} class id, empty for none of these
 * @property {boolean} doubtful worth a look by a person
 * @property {string} headline one sentence, which names the decision first
 *
 * @typedef {object} Near a taught picture beside a query
 * @property {string} class id
 * @property {string} example id
 * @property {number} distance Euclidean, of whitened embeddings
 * @property {boolean} near close enough to be in one burst
 *
 * @typedef {object} Trial
 * @property {number} of number of examples; a burst counts as one
 * @property {number} revision of the state
 * @property {string} class id
 * @property {string[]} pictures ids: one, or the frames of a burst
 * @property {boolean} alone its class has no other example; no question was asked
 * @property {string[]} classes ids in the order taught
 * @property {number[]} answer their probabilities
 * @property {number} none
 * @property {Decision} decision
 *
 * @typedef {object} Review
 * @property {number} revision of the state
 * @property {{class: string, confusedWith: string, doubt: number}} need ids of the class that needs another example most and of the one that
 *   it is confused with, empty for none
 * @property {{class: string, like: string, pictures: string[], asked: number, right: number, logProbability: number}[]} influence examples
 *   that another class fits better, the worst first: how many more of the others are right without each, and by how much their mean log probability changes
 *
 * @typedef {object} Settings
 * @property {SortOrder} [sort]
 * @property {number} [nonePrior]
 *
 * @typedef {object} Engine
 * @property {() => Promise<EngineState>} state the whole of it
 * @property {(revision: number) => Promise<Changes>} changes since a revision, from 0 everything
 * @property {(classId: string, exampleIds: string[]) => Promise<(Uint8Array|null)[]>} thumbnails of a class; a large
 *   session's state comes without them
 * @property {(name: string) => Promise<{id: string, name: string}>} addClass
 * @property {(id: string, name: string) => Promise<unknown>} renameClass
 * @property {(name: string) => Promise<{name: string, class: string}>} label the name in its stored form; `class` is the id
 *   of the class with this name or one that people take for the same (other case, other form of accents), empty if there is none. Rejects a name that no class can have
 * @property {(id: string) => Promise<{undo: string}>} removeClass
 * @property {(id: string, into: string) => Promise<{undo: string}>} mergeClasses moves all examples and removes the class, as one step
 * @property {(classId: string, actions: string) => Promise<{undo: string}>} setActions sets what happens when a class comes and goes, or none of
 *   these for an empty id
 * @property {(classId: string, embedding: Float32Array, thumbnail: Uint8Array|null, group?: string) => Promise<{id: string}>} addExample
 * examples of a class with the same group are one burst and count as one
 * @property {(names: string[], embeddings: Float32Array[], thumbnail: Uint8Array|null, group?: string) => Promise<{ids: string[]}>} addExamples
 *   adds each to the class of that name and creates missing classes: all or none, as one undo step
 * @property {(classId: string, exampleId: string) => Promise<{undo: string}>} removeExample
 * @property {(classId: string, exampleId: string, toClassId: string) => Promise<{undo: string}>} moveExample to the end of another class; it keeps its id
 * @property {(token?: string) => Promise<{name: string}>} undo takes back the last change of classes, examples or prior, or the one of a
 *   token. It works after a reload too. The name says which change; it is empty if there was none
 * @property {() => Promise<{name: string}>} redo repeats the change undone last; any other change clears it
 * @property {() => Promise<unknown>} beginStep groups all changes until endStep into one undo step, such as all pictures of a folder
 * @property {() => Promise<{undo: string}>} endStep the token is empty if nothing was changed
 * @property {() => Promise<unknown>} forgetUndo clears the undo history: removed pictures are gone then
 * @property {(embedding: Float32Array) => Promise<Prediction|null>} predict null while no class has an example
 * @property {(embedding: Float32Array|null) => Promise<Prediction|null>} show predicts, and shows the answer in the page's meters
 *   now and after every later change; null shows none
 * @property {(embedding: Float32Array|null, perHour?: number) => Promise<Live>} frame as show, for the next frame of a live view, with what came and went, at so
 *   many false events an hour, one if left out: what is shown follows the class that is here and does not flicker. A live view begins after `show`
 * @property {(embedding: Float32Array, count: number) => Promise<Near[]>} nearest taught pictures, the closest first
 * @property {(cells: Float32Array, dimension: number, classId: string, against: string) => Promise<{score: number, rest: number, cells: number[]}>} explain
 *   which cells of a picture speak for a class: what each adds to the log odds of the class to another one, or to none of the classes for an empty id
 * @property {() => Promise<{classId: string, exampleIds: string[]}>} withoutCells the only class, and which of its examples `anomaly` lacks
 *   the cells of; none where there are more classes
 * @property {(exampleId: string, cells: Float32Array, dimension: number) => Promise<unknown>} setCells tells the cells of an example
 * @property {(cells: Float32Array, dimension: number) => Promise<{wrong: number, good: number, cells: number[]}>} anomaly whether a picture
 *   is like the examples of the only class: the probability that something is wrong with it, and how far each cell is from good ones
 * @property {(index: number) => Promise<Trial|null>} leaveOut predicts one example by a session without it; null
 *   beyond the last
 * @property {() => Promise<Review|null>} influence which examples spoil others, and which class needs another one; null if the
 *   session changes meanwhile
 * @property {(settings: Settings) => Promise<unknown>} configure
 * @property {() => Promise<SessionInfo[]>} sessions
 * @property {(name: string) => Promise<unknown>} newSession
 * @property {(id: string) => Promise<unknown>} openSession
 * @property {(id: string) => Promise<unknown>} deleteSession
 * @property {(id: string, name: string) => Promise<unknown>} renameSession
 * @property {() => Promise<Uint8Array<ArrayBuffer>>} saveSession the file of the open session; notes that it was saved
 * @property {(options: {pictures: boolean}) => Promise<Uint8Array>} sharedSession the file of the open session, to share; does
 *   not note that it was saved
 * @property {() => Promise<Uint8Array<ArrayBuffer>>} exportClassifier the open session as a file for other programs
 * @property {() => Promise<Uint8Array>} damaged the records that cannot be used, as a file of JSON
 * @property {(extractor: Identity) => Promise<unknown>} useExtractor sets the extractor of new pictures. A session of another
 *   extractor stays as it is, and refuses to add and to predict with the code 'extractor'
 * @property {(bytes: Uint8Array, extractor?: Identity) => Promise<{id: string, notice: string}>} importSession
 *   refuses a file of another extractor; the notice is a sentence to show, or empty
 * @property {(source: {url: string, sha256: string}) => Promise<unknown>} usePrior
 * @property {(bytes: Uint8Array, extractor?: Identity) => Promise<{undo: string, notice: string}>} importPrior as importSession
 * @property {() => Promise<Uint8Array>} exportPrior
 * @property {() => Promise<unknown>} resetPrior
 * @property {(event: 'change', listener: () => void) => unknown} on
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
 * Answers about n pictures. `probabilities` has n rows: none of these, then the classes; it is null while no
 * class has a picture. `taken` has the index of each decision, -1 for none of these. `doubtful` has 1 for each doubtful one.
 *
 * @typedef {{classes: string[], probabilities: Float64Array|null, taken: Int32Array, doubtful: Uint8Array, headlines: string[]}} Answers
 */

/**
 * How to start an engine's worker: the content of the first message, and the worker.
 *
 * @typedef {{modules: Modules, runtime: string, name: string, worker: () => Worker}} Thread
 */

/**
 * The engine of a window, with the inputs of its workers.
 *
 * `memory` returns the bytes that the program holds. `byLabel` serves the package's classifier, which names classes by label.
 *
 * @typedef {Engine & {modules: Modules, thread: Thread, memory: () => Promise<number>, learningInput: () => Promise<{sessions: Uint8Array[], prior: Uint8Array|null}>, byLabel: (what: string, ...words: string[]) => Promise<unknown>, batchInput: () => Promise<{classifier: Uint8Array, prior: Uint8Array|null}>}} LoadedEngine
 */
/** @typedef {(progress: {loaded: number, total: number}) => void} OnProgress in bytes; total is 0 until it is known */
/** @typedef {{engine: WebAssembly.Module, kernels: WebAssembly.Module|null}} Modules compiled once, for a window and its workers */
/** @typedef {Record<string, (...args: any[]) => Promise<any>>} Methods */
/** @typedef {{argv: string[], env: Record<string, string>, importObject: Record<string, any>, run: (instance: WebAssembly.Instance) => Promise<void>, exited: boolean, _scheduledTimeouts: Map<number, ReturnType<typeof setTimeout>>}} GoProgram */
/** @typedef {{Go: new () => GoProgram, scope: Record<string, any>}} Runtime of Go, and the object that serves as its global scope */
export {};
