import { geyserSourceOptions } from '../../../src/upstream/geyser/geyser-source-options.ts';

/** For clients on a machine with much to do, where silence says nothing. */
export const longTimeouts = { ...geyserSourceOptions, connectTimeoutMs: 60_000, pongTimeoutMs: 60_000 };
