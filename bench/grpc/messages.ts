import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** Filter kinds of which each account matches one: by address or by data. */
export type SpreadLoad = 'spread' | 'spread by owner, memcmp and datasize' | 'spread by memcmp';

/** Updates: one account or block transactions to every stream, or accounts spread over filters. */
export type Load = 'accounts' | 'blocks' | SpreadLoad;

export const isSpread = (load: Load): load is SpreadLoad => load.startsWith('spread');

/** Concurrent streams, each with its own connection and filters. */
export type Crowd = Readonly<{ streams: number; load: Load; filtersEach: number }>;

/** Deterministic address of a number. */
export function addressAt(number: number): Uint8Array {
  const bytes = new Uint8Array(32).fill(11);
  new DataView(bytes.buffer).setUint32(0, Math.imul(number, 0x9e37_79b1) >>> 0);
  new DataView(bytes.buffer).setUint32(28, number);
  return bytes;
}

/** Results in messages of about 1 KiB. */
export const ACCOUNT_DATA_BYTES = 880;

/** Owner of every account. */
export const ownerBytes = new Uint8Array(32).fill(9);

/** Offset of the address that filters compare: the wallet of a token account. */
export const WALLET_AT = 32;

/** Queued bytes of a stream at which the next turn waits. */
export const AHEAD_BYTES = 1024 * 1024;

/** Filter name of a stream; distinct, so that no two streams receive the same bytes. */
export const filterOf = (stream: number): string => `stream-${String(stream).padStart(3, '0')}`;

const DATA = join(import.meta.dirname, '..', '..', '..', 'shared', 'data', 'blocks');

/** Mainnet blocks as `solana.storage.ConfirmedBlock`; null if the files are missing. */
export function mainnetBlocks(): Uint8Array[] | null {
  try {
    return ['18144001', '43200000', '64800004'].map((name) => readFileSync(join(DATA, `${name}.bincode`)));
  } catch {
    return null;
  }
}

/** To a server: emit updates, `perTurn` in each turn of the event loop. */
export type ServerOrder = Readonly<{ emit: number; perTurn: number }>;
/** From a server. */
export type ServerMessage = Readonly<{ listening: { port: number; token: string } } | { emitted: true }>;

/** To the sink. */
export type SinkOrder = Readonly<{ connect: { port: number; token: string } & Crowd } | { expect: number }>;
/** From the sink: the command is complete. */
export type SinkMessage = Readonly<{ done: true }>;
