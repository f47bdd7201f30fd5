// Written by build.mjs from the toolchain's wasm_exec.js: its class Go, without a trace in the global scope.
export interface Go {
  importObject: WebAssembly.Imports;
  exited: boolean;
  _scheduledTimeouts: Map<number, ReturnType<typeof setTimeout>>;
  run(instance: WebAssembly.Instance): Promise<void>;
}
export function loadGo(): new () => Go;
