import { geyserLimits } from '../../../src/upstream/feeds/geyser/geyser-connection.ts';

/** For clients on a busy machine. */
export const longTimeouts = { ...geyserLimits, connectTimeoutMs: 60_000, pongTimeoutMs: 60_000 };
