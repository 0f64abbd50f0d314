import { setFlagsFromString } from 'node:v8';

/** Bytecode that V8 may inline into one function. */
const INLINED_MAX_BYTES = 4_000;

export const INLINING_FLAG = '--max-inlined-bytecode-size-cumulative';

/**
 * Raises V8's limit of inlined bytecode (its own is 920 bytes) for what it compiles from now on: a call goes through some
 * sixty short functions, and to call them is a good part of what it costs. Called once, before anything is served.
 * Source: `node --v8-options`.
 */
export const raiseInliningLimit = (): void => setFlagsFromString(`${INLINING_FLAG}=${INLINED_MAX_BYTES}`);
