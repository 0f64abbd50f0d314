import type { AddressInfo } from 'node:net';
import { createServer, type Server, type Socket } from 'node:net';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { offChainLimits } from '../../../src/upstream/off-chain/limits.ts';
import type { OffChainClient } from '../../../src/upstream/off-chain/off-chain-client.ts';
import { type Host, json, neverAborted, openClient, startHost } from './hosts.ts';

const HOSTS = 100;
const URIS_PER_HOST = 1_000;
const limits = { ...offChainLimits, timeoutMs: 4_000, tryTimeoutMs: 1_700, slowMs: 700 };

let slow: Server;
let fast: Host;
let client: OffChainClient;
const sockets = new Set<Socket>();
let most = 0;

beforeEach(async () => {
  slow = createServer((socket) => {
    sockets.add(socket);
    most = Math.max(most, sockets.size);
    socket.on('error', () => undefined).on('close', () => sockets.delete(socket));
    socket.resume();
  });
  await new Promise<void>((resolve) => slow.listen(0, '127.0.0.2', resolve));
  fast = await startHost({ '*': json({ name: 'fast' }) });
  client = await openClient([portOf(slow), fast.port], { limits });
});

afterEach(async () => {
  await client.close();
  for (const socket of sockets) socket.destroy();
  await new Promise((resolve) => slow.close(resolve));
  await fast.close();
});

const portOf = (server: Server): number => (server.address() as AddressInfo).port;
const slowUri = (host: number, n: number): string => `http://slow${host}.example:${portOf(slow)}/${n}`;
const fastUri = (n: number): string => `http://fast.example:${fast.port}/${n}`;
const count = <T>(length: number, make: (index: number) => T): T[] =>
  Array.from({ length }, (_, i) => make(i));

type Read = Readonly<{ tookMs: number; found: readonly string[] }>;

/** Starts a read per slow host, with a thousand of its URIs and one of the fast host. */
async function storm(round: number): Promise<Read[]> {
  const readings: Promise<Read>[] = [];
  for (let host = 0; host < HOSTS; host++) {
    readings.push(timedReading(host, fastUri(round * HOSTS + host)));
    await nextTurn();
  }
  return Promise.all(readings);
}

async function timedReading(host: number, answered: string): Promise<Read> {
  const startedAt = performance.now();
  const found = await client.read([answered, ...count(URIS_PER_HOST, (n) => slowUri(host, n))], neverAborted);
  return { tookMs: performance.now() - startedAt, found: [...found.keys()] };
}

/** Duration of the longest read, and number of reads that returned only the fast host's document. */
function summaryOf(reads: readonly Read[]): { longestMs: number; answered: number } {
  expect(reads.flatMap(({ found }) => found).filter((uri) => !uri.includes('fast'))).toEqual([]);
  const answered = reads.filter(({ found }) => found.length === 1).length;
  return { longestMs: Math.max(...reads.map(({ tookMs }) => tookMs)), answered };
}

/** Duration of the longest read while the circuits of all slow hosts are open. */
async function stormAtRest(round: number): Promise<number> {
  const { longestMs, answered } = summaryOf(await storm(round));
  expect(answered).toBe(HOSTS);
  return longestMs;
}

it(`${HOSTS} slow hosts with ${URIS_PER_HOST} URIs each delay no off-chain read beyond its timeout`, async () => {
  const before = process.memoryUsage().rss;
  let waiting = 0;
  const watch = setInterval(() => {
    waiting = Math.max(waiting, client.queues.waiting);
  }, 5);
  const first = summaryOf(await storm(0));
  clearInterval(watch);
  // Some tolerance, since this process also runs the hosts.
  expect(first.longestMs).toBeLessThan(limits.timeoutMs + 1_500);
  expect(first.answered).toBeGreaterThan(HOSTS * 0.9);
  expect(waiting).toBeLessThanOrEqual(limits.queueMax);
  expect(most).toBeLessThanOrEqual(limits.inFlightMax + HOSTS);
  expect([client.inFlight, client.queues.active, client.queues.waiting]).toEqual([0, 0, 0]);
  // All circuits are open now.
  const second = await stormAtRest(1);
  const shortMs = limits.timeoutMs / 2;
  expect(second < shortMs ? second : await stormAtRest(2)).toBeLessThan(shortMs);
  expect(process.memoryUsage().rss - before).toBeLessThan(300 * 1024 * 1024);
});
