import { geyserSourceOptions } from '../../../src/upstream/geyser/geyser-source-options.ts';

/** For clients on a busy machine. */
export const longTimeouts = { ...geyserSourceOptions, connectTimeoutMs: 60_000, pongTimeoutMs: 60_000 };
