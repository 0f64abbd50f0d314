import { setFlagsFromString } from 'node:v8';

/**
 * Bytecode that V8 may put into one function in place of calls; its own bound is 920. A call goes through some sixty short
 * functions, so that about a twelfth of what it costs is calling them (`npm run bench -- rpc`, with and without).
 */
const INLINED_MAX_BYTES = 4_000;

/** Has V8 compile long ways of short functions into few: what it compiles from now on. */
export const inlineMore = (): void =>
  setFlagsFromString(`--max-inlined-bytecode-size-cumulative=${INLINED_MAX_BYTES}`);
