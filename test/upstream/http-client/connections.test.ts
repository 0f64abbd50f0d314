import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { UpstreamLimits } from '../../../src/upstream/limits.ts';
import type { NodeConfig, UpstreamNode } from '../../../src/upstream/node.ts';
import type { Outcome } from '../../../src/upstream/outcome.ts';
import { attempt, sendAttempt } from '../../../src/upstream/retry/attempt.ts';
import { deadUrl } from '../mock/behaviors.ts';
import { until } from '../mock/pool.ts';
import { call, nodeAt, outcomeText, sendOnce } from './node-rig.ts';
import {
  envelope,
  http,
  type RawNode,
  type RawRequest,
  type RawScript,
  responding,
  startRaw,
  unresponsive,
} from './raw-node.ts';

let raw: RawNode;
let node: UpstreamNode;
afterEach(async () => {
  vi.restoreAllMocks();
  await node.close();
  await raw?.close();
});

async function open(
  script: RawScript,
  limits: Partial<UpstreamLimits> = {},
  config: Partial<NodeConfig> = {},
): Promise<void> {
  raw = await startRaw(script);
  node = nodeAt(raw.url, limits, config);
}

const calls = (count: number): Promise<string>[] => Array.from({ length: count }, () => outcomeText(node));

describe('connections to a node', () => {
  it('are limited; further requests wait', async () => {
    await open(unresponsive, { connectionsMax: 2 });
    const pending = calls(6);
    await until(() => raw.requests.length === 2);
    raw.become(responding);
    for (const request of raw.requests.slice(0, 2)) responding(request);
    expect(await Promise.all(pending)).toEqual(Array(6).fill('7'));
    expect(raw.sockets).toHaveLength(2);
    const ids = raw.requests.map(({ id }) => id);
    expect(ids).toEqual(ids.toSorted((a, b) => a - b));
  });

  it.each([
    ['sends connection: close', http('', ['connection: close'])],
    ['sends keep-alive: timeout=0', http('', ['keep-alive: timeout=0'])],
  ])('are not reused when the node %s', async (_name, response) => {
    await open(({ socket, id }) => {
      const body = envelope(id);
      socket.write(response.replace('content-length: 0', `content-length: ${body.length}`) + body);
    });
    for (let i = 0; i < 3; i++) expect(await outcomeText(node)).toBe('7');
    expect(raw.sockets).toHaveLength(3);
    await until(() => raw.open() === 0);
  });

  it('close when idle', async () => {
    await open(responding, { idleTimeoutMs: 30 });
    await outcomeText(node);
    await until(() => raw.open() === 0);
  });

  it('close with the node and fail waiting requests', async () => {
    await open(unresponsive, { connectionsMax: 1 });
    const pending = calls(3);
    await until(() => raw.requests.length === 1);
    await node.close();
    expect(await Promise.all(pending)).toEqual(['sent, lost', 'unsent, lost', 'unsent, lost']);
    expect(await outcomeText(node)).toBe('unsent, lost');
    await until(() => raw.open() === 0);
  });
});

describe('unsolicited responses', () => {
  it('are never used as the next response', async () => {
    await open(({ socket, id }) => socket.write(http(envelope(id)) + http(envelope(id + 1, '"forged"'))));
    for (let i = 0; i < 3; i++) expect(await outcomeText(node)).toBe('7');
    expect(raw.sockets).toHaveLength(3);
  });

  it('also close the connection when they arrive later', async () => {
    await open(responding);
    await outcomeText(node);
    raw.sockets[0]!.write(http(envelope(raw.requests[0]!.id + 1, '"forged"')));
    await until(() => raw.open() === 0);
    expect(await outcomeText(node)).toBe('7');
  });
});

describe('broken connection', () => {
  it.each<[string, RawScript]>([
    ['before the response', ({ socket }) => socket.destroy()],
    ['in the body', ({ socket }) => socket.end('HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\n{"js')],
    ['by a response that is not HTTP', ({ socket }) => socket.write('220 smtp ready\r\n')],
    ['by an endless header', ({ socket }) => socket.write(`HTTP/1.1 200 OK\r\nx: ${'y'.repeat(30_000)}`)],
  ])('%s fails the request as possibly read', async (_name, script) => {
    await open(script);
    expect(await outcomeText(node)).toBe('sent, lost');
    await until(() => raw.open() === 0);
    raw.become(responding);
    expect(await outcomeText(node)).toBe('7');
    expect(node.inFlight).toBe(0);
  });

  it('does not cause a retry when the node closes an idle connection', async () => {
    await open(responding);
    await outcomeText(node);
    // The node closes just as the next request is sent.
    raw.become(({ socket }) => socket.destroy());
    expect(await outcomeText(node)).toBe('sent, lost');
    expect(raw.requests).toHaveLength(2);
  });

  it('is reported as unsent when no connection was made', async () => {
    await open(unresponsive);
    const dead = nodeAt(await deadUrl());
    expect(await Promise.all([outcomeText(dead), outcomeText(dead)])).toEqual([
      'unsent, lost',
      'unsent, lost',
    ]);
    await dead.close();
    const nameless = nodeAt('http://no-such-host.invalid/');
    expect(await outcomeText(nameless)).toBe('unsent, lost');
    await nameless.close();
  });
});

describe('request timeout', () => {
  it('closes the connection', async () => {
    await open(responding);
    await outcomeText(node);
    raw.become(unresponsive);
    const { outcome, elapsedMs } = await sendOnce(node, 400);
    expect(outcome).toEqual({ kind: 'transport', wasSent: true, timedOut: true });
    expect(elapsedMs).toBeGreaterThanOrEqual(400);
    await until(() => raw.open() === 0);
  });

  it('applies while waiting for a connection, without sending', async () => {
    await open(unresponsive, { connectionsMax: 1 });
    const first = outcomeText(node);
    await until(() => raw.requests.length === 1);
    expect(await outcomeText(node, 50)).toBe('unsent, late');
    responding(raw.requests[0]!);
    expect(await first).toBe('7');
    expect(raw.requests).toHaveLength(1);
  });
});

describe('aborted light read', () => {
  async function abortOne(): Promise<void> {
    const controller = new AbortController();
    const aborted = attempt(node, call(), 20_000, controller.signal);
    await until(() => raw.requests.length === 1);
    controller.abort();
    expect((await aborted).outcome).toEqual({ kind: 'aborted', wasSent: true });
  }

  it('closes its connection when no response arrives, or when another request needs a connection', async () => {
    await open(unresponsive);
    await abortOne();
    await until(() => raw.open() === 0);
    await node.close();
    node = nodeAt(raw.url, { connectionsMax: 2 });
    const held = outcomeText(node);
    await until(() => raw.requests.length === 2);
    const controller = new AbortController();
    // One connection is still available, then none.
    const aborted = attempt(node, call(), 20_000, controller.signal);
    await until(() => raw.requests.length === 3);
    controller.abort();
    await aborted;
    raw.become(responding);
    expect(await outcomeText(node)).toBe('7');
    responding(raw.requests[1]!);
    expect(await held).toBe('7');
  });
});

describe('pipelining', () => {
  const CONCURRENT = 16;
  let pending: readonly Promise<string>[] = [];

  /** Sends requests of these methods in one turn. @returns them by connection, without responses. */
  async function hold(methods: readonly string[] = Array(CONCURRENT).fill('getBalance')) {
    const from = raw.requests.length;
    raw.become(unresponsive);
    pending = methods.map((method) => outcomeText(node, 20_000, method));
    await until(() => raw.requests.length === from + methods.length);
    return [...Map.groupBy(raw.requests.slice(from), ({ connection }) => connection).values()];
  }

  async function finish(groups: readonly RawRequest[][]): Promise<string[]> {
    raw.become(responding);
    for (const request of groups.flat()) responding(request);
    return Promise.all(pending);
  }

  const largest = (groups: readonly RawRequest[][]): number =>
    Math.max(...groups.map(({ length }) => length));

  /** Responds promptly until requests share connections. */
  async function holdShared(): Promise<RawRequest[][]> {
    for (;;) {
      const groups = await hold();
      if (largest(groups) > 1) return groups;
      await finish(groups);
    }
  }

  /** Uses a single connection, and responds promptly until four requests share it. */
  async function shareOneConnection(): Promise<void> {
    await node.close();
    node = nodeAt(raw.url, { connectionsMax: 1 });
    const turn: RawRequest[] = [];
    let largestTurn = 0;
    const respondToTurn = (): void => {
      largestTurn = Math.max(largestTurn, turn.length);
      turn.splice(0).forEach(responding);
    };
    raw.become((request) => turn.push(request) === 1 && setImmediate(respondToTurn));
    while (largestTurn < 4) await Promise.all(calls(4));
  }

  beforeEach(() => open(unresponsive));

  it('assigns responses in order, however they are split', async () => {
    const groups = await holdShared();
    for (const group of groups) {
      const bytes = group.map(({ id }) => http(envelope(id, String(id)))).join('');
      const { socket } = group[0]!;
      socket.write(bytes.slice(0, bytes.length / 3), () => socket.write(bytes.slice(bytes.length / 3)));
    }
    const ids = raw.requests.slice(-CONCURRENT).map(({ id }) => String(id));
    expect((await Promise.all(pending)).toSorted()).toEqual(ids.toSorted());
  });

  it('streams no response while requests wait behind it, because the id is read last', async () => {
    await finish(await holdShared());
    const from = raw.requests.length;
    raw.become(unresponsive);
    const outcomes: string[] = [];
    const onOutcome = ({ kind }: Outcome) => void outcomes.push(kind);
    const onStream = () => void outcomes.push('streamed');
    for (let i = 0; i < 2; i++)
      sendAttempt(node, call(), 20_000, { acceptsStream: true, onOutcome, onStream });
    await until(() => raw.requests.length === from + 2);
    const shared = raw.requests.slice(from);
    expect(shared[0]!.socket).toBe(shared[1]!.socket);
    raw.become(responding);
    const long = JSON.stringify('x'.repeat(2 ** 20));
    for (const { socket, id } of shared.toReversed()) socket.write(http(envelope(id, long)));
    await until(() => outcomes.length === 2);
    expect(outcomes).toEqual(['invalid', 'response']);
  });

  it('discards the response to an aborted request', async () => {
    await finish(await holdShared());
    const from = raw.requests.length;
    raw.become(unresponsive);
    const controller = new AbortController();
    const aborted = attempt(node, call(), 20_000, controller.signal);
    const others = calls(3);
    await until(() => raw.requests.length === from + 4);
    controller.abort();
    expect((await aborted).outcome.kind).toBe('aborted');
    for (const request of raw.requests.slice(from)) responding(request);
    expect(await Promise.all(others)).toEqual(Array(3).fill('7'));
  });

  it('sends nothing behind requests of an earlier turn', async () => {
    await shareOneConnection();
    const [[first, second] = []] = await hold(['getBalance', 'getBalance']);
    const next = outcomeText(node);
    const sent = raw.requests.length;
    raw.become(responding);
    responding(first!);
    await pending[0];
    // Connecting takes longer than sending over an open connection.
    const other = nodeAt(raw.url);
    await outcomeText(other);
    other.close();
    expect(raw.requests.length).toBe(sent + 1);
    responding(second!);
    expect(await Promise.all([...pending, next])).toEqual(['7', '7', '7']);
  });

  it.each([
    ...['sendTransaction', 'requestAirdrop', 'simulateTransaction'],
    ...['getProgramAccounts', 'getBlock', 'noSuchMethod'],
  ])('never lets %s share a connection', async (method) => {
    await finish(await holdShared());
    for (const group of await hold([method, 'getBalance', method, method, 'getBalance', method]))
      expect(group.length === 1 || group.every(({ body }) => body.includes('getBalance'))).toBe(true);
  });

  it('sends requests behind a stalled one elsewhere, and stops sharing', async () => {
    const groups = await holdShared();
    raw.become(responding);
    let responses = 0;
    for (const one of pending) void one.then(() => responses++);
    await until(() => responses === CONCURRENT - groups.length);
    expect(await finish(groups)).toEqual(Array(CONCURRENT).fill('7'));
    expect(node.inFlight).toBe(0);
    expect(largest(await hold())).toBe(1);
  });

  it('keeps the connection of a stalled request when one behind it was aborted', async () => {
    await shareOneConnection();
    const from = raw.requests.length;
    raw.become(unresponsive);
    const others = calls(2);
    const controller = new AbortController();
    const aborted = attempt(node, call(), 20_000, controller.signal);
    await until(() => raw.requests.length === from + 3);
    controller.abort();
    await aborted;
    // Ends after the request ahead of it counts as late.
    expect(await outcomeText(node, 500)).toBe('unsent, late');
    raw.become(responding);
    responding(raw.requests[from]!);
    expect(await Promise.all(others)).toEqual(['7', '7']);
  });

  it.each<[string, string, (group: RawRequest[]) => void]>([
    ['loses a shared connection', 'sent, lost', ([first]) => first!.socket.destroy()],
    ['responds out of order', 'invalid', (group) => group.toReversed().forEach(responding)],
  ])('stops sharing when the node %s; only the first request fails', async (_name, failure, fail) => {
    const groups = await holdShared();
    raw.become(responding);
    const failing = groups.filter(({ length }) => length > 1);
    for (const group of groups) failing.includes(group) ? fail(group) : responding(group[0]!);
    const failed = (await Promise.all(pending)).filter((text) => text !== '7');
    expect(failed).toEqual(failing.map(() => failure));
    expect(largest(await hold())).toBe(1);
  });
});
