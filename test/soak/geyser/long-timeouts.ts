import { geyserLimits } from '../../../src/upstream/feeds/geyser/geyser-connection.ts';

/** For clients on a machine with much to do, where silence says nothing. */
export const longTimeouts = { ...geyserLimits, connectTimeoutMs: 60_000, pongTimeoutMs: 60_000 };
