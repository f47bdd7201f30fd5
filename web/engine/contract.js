// @ts-check
/**
 * What the Go program offers a page (wasm/page_js.go), as types only: nothing here runs.
 *
 * Every method of Engine returns a promise; a refusal rejects with an Error whose
 * `code` is a short word and whose `message` is a sentence that names the remedy. What
 * another tab was quicker with ('session', 'class', 'label', 'changed') has been taken back.
 *
 * @typedef {'probability'|'taught'} SortOrder
 *
 * @typedef {object} Example
 * @property {string} id
 * @property {Uint8Array} [thumbnail] encoded picture bytes (JPEG, PNG or WebP), in Changes alone and only where there are any
 *
 * @typedef {object} ClassState
 * @property {string} id
 * @property {string} name
 * @property {Example[]} examples in the order added
 * @property {number[]} bursts how many of them are nearly the same picture, for each picture that is like none before
 *
 * @typedef {object} PriorState
 * @property {string} sha256
 * @property {string} name
 * @property {boolean} site whether it is the one for sessions that chose none: that of the page, where it is known
 * @property {Record<string, string>} facts
 * @property {string} message why it is not the one that the session chose, empty when it is
 *
 * @typedef {object} EngineState
 * @property {string} sessionId
 * @property {string} sessionName
 * @property {SortOrder} sort
 * @property {number} nonePrior prior probability of none-of-these, in [0, 1)
 * @property {number} dimension numbers per embedding
 * @property {string} undo what undo would take back, in plain words ("remove Banana"), empty where there is nothing
 * @property {string} redo what redo would do again
 * @property {PriorState} prior
 * @property {ClassState[]} classes
 * @property {{id: string, sha256: string, message: string}} extractor that read the session's pictures, or will, empty where
 *   that is not known; why they cannot be compared with new ones, empty when they can
 * @property {{kept: boolean, message: string, vanished: string, persistent: ''|'yes'|'no'}} storage whether changes outlive
 *   the tab, and if not, why; what was kept at the last visit and is not any more, empty if all is; whether the browser has promised not to clear them of its own accord, empty while it has not been asked
 * @property {number} saved when the session was last saved to a file, in milliseconds since 1970, 0 for never
 * @property {number} damaged how many stored records of the session cannot be used
 *
 * What a page that has the state of one revision needs to have that of another.
 *
 * @typedef {object} Changes
 * @property {number} revision to ask from the next time
 * @property {Omit<EngineState, 'classes'>} state
 * @property {ClassState[]|null} classes all of them where no steps lead from the page's revision, or else null
 * @property {Step[]} steps what happened to classes and examples, to be done in this order
 *
 * A class is at a place and has a name, and may be new; it and its examples are gone; a new example is at a place of it;
 * one is gone; all its bursts, or the one at a place, have other sizes, none where there are no bursts. `class` is its id.
 *
 * @typedef {{class: string} & ({do: 'put-class', name: string, at: number} | {do: 'drop-class'} | {do: 'put-example', at: number, example: Example}
 *   | {do: 'drop-example', example: Example} | {do: 'put-bursts'|'put-burst', at: number, sizes?: number[]})} Step
 *
 * @typedef {object} SessionInfo
 * @property {string} id
 * @property {string} name
 * @property {number|string} updated time of the last change
 * @property {number} saved time when it was last saved to a file, 0 for never
 * @property {number} classes
 * @property {number} examples
 * @property {string} extractor sha256 of what read them, empty where that is not known
 *
 * @typedef {object} Prediction
 * @property {{id: string, name: string, probability: number}[]} classes
 * @property {number} none
 * @property {Decision} decision
 *
 * @typedef {object} Decision what an answer is taken for (core/decide.go)
 * @property {string} class id, empty for none of these
 * @property {boolean} doubtful somebody should look at it
 * @property {string} headline one sentence, which names the decision first
 *
 * @typedef {object} Near a taught picture beside a query
 * @property {string} class id
 * @property {string} example id
 * @property {number} distance Euclidean, of whitened embeddings
 * @property {boolean} near close enough that both would be one burst
 *
 * @typedef {object} Trial
 * @property {number} of how many examples there are, a burst being one
 * @property {number} revision the state that it is about
 * @property {string} class id
 * @property {string[]} pictures ids: one, or the frames of a burst
 * @property {boolean} alone its class has no other example, so that nothing was asked
 * @property {string[]} classes ids in the order taught
 * @property {number[]} answer their probabilities
 * @property {number} none
 * @property {Decision} decision
 *
 * @typedef {object} Settings
 * @property {SortOrder} [sort]
 * @property {number} [nonePrior]
 *
 * @typedef {object} Engine
 * @property {() => Promise<EngineState>} state the whole of it
 * @property {(revision: number) => Promise<Changes>} changes since a revision, from 0 everything
 * @property {(classId: string, exampleIds: string[]) => Promise<(Uint8Array|null)[]>} thumbnails of a class; with many pictures
 *   they do not come with the whole state
 * @property {(name: string) => Promise<{id: string, name: string}>} addClass
 * @property {(id: string, name: string) => Promise<unknown>} renameClass
 * @property {(name: string) => Promise<{name: string, class: string}>} label a name as it would be kept, and the id of the class that has
 *   it or one that people take for the same (other case, accents composed otherwise, ...), empty for none; refused where it cannot be one
 * @property {(id: string) => Promise<{undo: string}>} removeClass
 * @property {(id: string, into: string) => Promise<{undo: string}>} mergeClasses moves all examples and removes the class, as one step
 * @property {(classId: string, embedding: Float32Array, thumbnail: Uint8Array|null, group?: string) => Promise<{id: string}>} addExample
 *   those of a class that name the same group are frames of one burst and count as one
 * @property {(names: string[], embeddings: Float32Array[], thumbnail: Uint8Array|null, group?: string) => Promise<{ids: string[]}>} addExamples
 *   one to the class of each name, which comes into being with its first one: all or none, as one step
 * @property {(classId: string, exampleId: string) => Promise<{undo: string}>} removeExample
 * @property {(classId: string, exampleId: string, toClassId: string) => Promise<{undo: string}>} moveExample to the end of another class, where it has the same id
 * @property {(token?: string) => Promise<{name: string}>} undo takes back the last change of what is taught, or of the prior, also after a
 *   reload, or the one of a token, and says which; the name is empty if there was none
 * @property {() => Promise<{name: string}>} redo does again what was undone last, until something else is changed
 * @property {() => Promise<unknown>} beginStep what changes until endStep is undone as one, such as all pictures of a folder
 * @property {() => Promise<{undo: string}>} endStep the token is empty where nothing was changed
 * @property {() => Promise<unknown>} forgetUndo has nothing undone or redone of what was changed until now: what was removed is gone then
 * @property {(embedding: Float32Array) => Promise<Prediction|null>} predict null while no class has an example
 * @property {(embedding: Float32Array|null) => Promise<Prediction|null>} show predicts, and shows the answer in the page's meters
 *   now and after every later change; null shows none
 * @property {(embedding: Float32Array|null) => Promise<Prediction|null>} frame as show, for the next frame of a live view: other words and
 *   another class are shown once two frames in a row have them
 * @property {(embedding: Float32Array, count: number) => Promise<Near[]>} nearest taught pictures, the closest first
 * @property {(index: number) => Promise<Trial|null>} leaveOut what one of all examples would be taken for had it not been taught;
 *   null beyond the last
 * @property {(settings: Settings) => Promise<unknown>} configure
 * @property {() => Promise<SessionInfo[]>} sessions
 * @property {(name: string) => Promise<unknown>} newSession
 * @property {(id: string) => Promise<unknown>} openSession
 * @property {(id: string) => Promise<unknown>} deleteSession
 * @property {(id: string, name: string) => Promise<unknown>} renameSession
 * @property {() => Promise<Uint8Array<ArrayBuffer>>} saveSession notes that it was saved
 * @property {(options: {pictures: boolean}) => Promise<Uint8Array>} sharedSession the file of the open session to be handed on;
 *   that it was saved is not noted
 * @property {() => Promise<Uint8Array<ArrayBuffer>>} exportClassifier what the open session answers by now, for other programs
 * @property {() => Promise<Uint8Array>} damaged the records that cannot be used, as a file of JSON
 * @property {(extractor: Identity) => Promise<unknown>} useExtractor tells which one reads the pictures from now on: a session
 *   that another one read is kept, but refuses to add and to predict with the code 'extractor'
 * @property {(bytes: Uint8Array, extractor?: Identity) => Promise<{id: string, notice: string}>} importSession
 *   refuses a file of another extractor than the given one; the notice is empty or a sentence to tell
 * @property {(source: {url: string, sha256: string}) => Promise<unknown>} usePrior
 * @property {(bytes: Uint8Array, extractor?: Identity) => Promise<{undo: string, notice: string}>} importPrior as importSession
 * @property {() => Promise<Uint8Array>} exportPrior
 * @property {() => Promise<unknown>} resetPrior
 * @property {(event: 'change', listener: () => void) => unknown} on
 * @property {{none: number, sure: number}} bounds of decisions, in percent: from which none of these is one, and below which one is doubtful
 *
 * @typedef {{id: string, sha256: string}} Identity of an extractor
 */

/** @typedef {{accuracy: number, unknown: number, loss: number}} Measured on classes left out of learning, with one and two pictures each: `unknown` is the geometric mean of the probability of none of these, over pictures of unknown classes; the loss, of all answers, is a cross-entropy in nats */
/**
 * What came of learning.
 *
 * @typedef {object} Learned
 * @property {Uint8Array|null} prior a file for importPrior; null where it does not pay
 * @property {number} classes that were learned from
 * @property {number} sessions
 * @property {Measured} before of the prior that learning began at
 * @property {Measured} after
 */
/**
 * What is answered about n pictures: for each the probability of none of these and then
 * those of the classes, null while no class has a picture; the index of the class that each
 * is taken for, -1 for none of them; and 1 for each that is doubtful.
 *
 * @typedef {{classes: string[], probabilities: Float64Array|null, taken: Int32Array, doubtful: Uint8Array, headlines: string[]}} Answers
 */

/**
 * How an engine's workers are started: what the first message tells, and the worker.
 *
 * @typedef {{modules: Modules, runtime: string, name: string, worker: () => Worker}} Thread
 */

/**
 * The engine of a window, with what its workers need of it.
 *
 * `memory` tells the bytes that the program holds; `byLabel` is for the package's classifier, which calls classes by labels.
 *
 * @typedef {Engine & {modules: Modules, thread: Thread, memory: () => Promise<number>, learningInput: () => Promise<{sessions: Uint8Array[], prior: Uint8Array|null}>, byLabel: (what: string, ...words: string[]) => Promise<unknown>, batchInput: () => Promise<{classifier: Uint8Array, prior: Uint8Array|null}>}} LoadedEngine
 */
/** @typedef {(progress: {loaded: number, total: number}) => void} OnProgress bytes; total is 0 while it is not known */
/** @typedef {{engine: WebAssembly.Module, kernels: WebAssembly.Module|null}} Modules compiled once, for a window and its workers */
/** @typedef {Record<string, (...args: any[]) => Promise<any>>} Methods */
/** @typedef {{argv: string[], env: Record<string, string>, importObject: Record<string, any>, run: (instance: WebAssembly.Instance) => Promise<void>, exited: boolean, _scheduledTimeouts: Map<number, ReturnType<typeof setTimeout>>}} GoProgram */
/** @typedef {{Go: new () => GoProgram, scope: Record<string, any>}} Runtime of Go, and what it takes for the global scope */
export {};
