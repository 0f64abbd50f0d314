import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** What is told, and what the processes of the benchmark say to each other. */

/** What a filter asks of which each account passes one of one stream: an address, or what its data is. */
export type SpreadLoad = 'spread' | 'spread by owner, memcmp and datasize' | 'spread by memcmp';

/** What is told, over and over: one account to every stream, the transactions of blocks to every stream, or those. */
export type Load = 'accounts' | 'blocks' | SpreadLoad;

export const isSpread = (load: Load): load is SpreadLoad => load.startsWith('spread');

/** Streams open at a time, each on a connection of its own, by filters of its own. */
export type Crowd = Readonly<{ streams: number; load: Load; filtersEach: number }>;

/** An address for each number. */
export function addressAt(number: number): Uint8Array {
  const bytes = new Uint8Array(32).fill(11);
  new DataView(bytes.buffer).setUint32(0, Math.imul(number, 0x9e37_79b1) >>> 0);
  new DataView(bytes.buffer).setUint32(28, number);
  return bytes;
}

/** With it a message has about 1 KiB. */
export const ACCOUNT_DATA_BYTES = 880;

/** The owner of every account that is told. */
export const ownerBytes = new Uint8Array(32).fill(9);

/** Where in the data an address stands that filters compare: a token account has its wallet there. */
export const WALLET_AT = 32;

/** Bytes that are on their way to a stream before the next turn waits for it. */
export const AHEAD_BYTES = 1024 * 1024;

/** The filter's name is that of the stream, so no two streams are sent the same bytes. */
export const filterOf = (stream: number): string => `stream-${String(stream).padStart(3, '0')}`;

const DATA = join(import.meta.dirname, '..', '..', '..', 'shared', 'data', 'blocks');

/** Real mainnet blocks as `solana.storage.ConfirmedBlock`; null where they are not at hand. */
export function mainnetBlocks(): Uint8Array[] | null {
  try {
    return ['18144001', '43200000', '64800004'].map((name) => readFileSync(join(DATA, `${name}.bincode`)));
  } catch {
    return null;
  }
}

/** To a server: tell so many updates, some in each turn of the event loop. */
export type ServerOrder = Readonly<{ emit: number; perTurn: number }>;
/** From a server. */
export type ServerMessage = Readonly<{ listening: { port: number; token: string } } | { emitted: true }>;

/** To the sink. */
export type SinkOrder = Readonly<{ connect: { port: number; token: string } & Crowd } | { expect: number }>;
/** From the sink: it did what it was told, or all that was expected is there. */
export type SinkMessage = Readonly<{ done: true }>;
