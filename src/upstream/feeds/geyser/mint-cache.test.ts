import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { createLogger } from '../../../base/log.ts';
import type { Account } from '../../../solana/account/account.ts';
import { addressBytes, addressFromBytes } from '../../../solana/address.ts';
import { programs } from '../../../solana/programs.ts';
import { lamports } from '../../../solana/units.ts';
import type { RequestFn } from '../chain-reader.ts';
import { MintCache } from './mint-cache.ts';

const limits = {
  mintsMax: 100,
  mintMaxAgeMs: 60_000,
  mintWaitMs: 500,
  mintRetryMs: 5_000,
  mintFetchesMax: 3,
};

const mint = (number: number) => addressFromBytes(new Uint8Array(32).fill(number));

function tokens(number: number): Account {
  const data = Buffer.alloc(165);
  data.set(addressBytes(mint(number)), 0);
  data[108] = 1;
  return { lamports: lamports(1), data, owner: programs.token, executable: false, rentEpoch: 0n };
}

function sixDecimals(): Buffer {
  const data = Buffer.alloc(82);
  data[44] = 6;
  data[45] = 1;
  return Buffer.from(JSON.stringify({ value: { data: [data.toString('base64'), 'base64'] } }));
}

const mintsOf = (request: RequestFn): MintCache =>
  new MintCache({ request: request, log: createLogger('silent', () => {}), limits });
const never = (): Promise<Buffer> => new Promise(() => {});

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
});
afterEach(() => {
  vi.useRealTimers();
});

describe('MintCache', () => {
  it('retries a failed fetch after a pause', async () => {
    const request = vi.fn(() => Promise.reject(new Error('nobody is there')));
    const mints = mintsOf(request);
    for (let update = 0; update < 20; update++) await mints.fetchFor(tokens(1));
    expect(request).toHaveBeenCalledTimes(1);
    vi.advanceTimersByTime(limits.mintRetryMs);
    await mints.fetchFor(tokens(1));
    expect(request).toHaveBeenCalledTimes(2);
  });

  it('limits the wait for a fetch and caches a late result', async () => {
    const { promise, resolve } = Promise.withResolvers<Buffer>();
    const mints = mintsOf(() => promise);
    const waited = mints.fetchFor(tokens(1));
    expect(waited).not.toBeNull();
    await vi.advanceTimersByTimeAsync(limits.mintWaitMs);
    await waited;
    expect(mints.fetchFor(tokens(1))).toBeNull();
    expect(mints.lookup().mint?.(mint(1))).toBeNull();
    resolve(sixDecimals());
    await vi.advanceTimersByTimeAsync(0);
    expect(mints.lookup().mint?.(mint(1))).toMatchObject({ decimals: 6 });
  });

  it('limits concurrent fetches', () => {
    const request = vi.fn(never);
    const mints = mintsOf(request);
    for (let number = 1; number <= 9; number++) void mints.fetchFor(tokens(number));
    expect(request).toHaveBeenCalledTimes(limits.mintFetchesMax);
  });
});
