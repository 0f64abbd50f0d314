import dns from 'node:dns';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { attempt } from '../../../src/upstream/attempt.ts';
import { defaultUpstreamLimits, type UpstreamLimits } from '../../../src/upstream/limits.ts';
import { type NodeConfig, UpstreamNode } from '../../../src/upstream/node.ts';
import { deadUrl } from '../mock/dead.ts';
import { until } from '../mock/pool.ts';
import { call, nodeAt, outcomeText, sendOnce } from './node-rig.ts';
import {
  envelope,
  http,
  type RawNode,
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

describe('the connections to a node', () => {
  it('are used again, the one that was used last first', async () => {
    await open(responding);
    await Promise.all(calls(3));
    expect(raw.sockets).toHaveLength(3);
    for (let i = 0; i < 4; i++) await outcomeText(node);
    expect(new Set(raw.requests.slice(3).map(({ connection }) => connection)).size).toBe(1);
  });

  it('are no more than there may be, and who finds none waits in line', async () => {
    await open(unresponsive, { connectionsMax: 2 });
    const asked = calls(6);
    await until(() => raw.requests.length === 2);
    raw.become(responding);
    for (const request of raw.requests.slice(0, 2)) responding(request);
    expect(await Promise.all(asked)).toEqual(Array(6).fill('7'));
    expect(raw.sockets).toHaveLength(2);
    const ids = raw.requests.map(({ id }) => id);
    expect(ids).toEqual(ids.toSorted((a, b) => a - b));
  });

  it('that are open already keep to limits that change', async () => {
    const limits = { ...defaultUpstreamLimits, connectionsMax: 1 };
    raw = await startRaw(responding);
    node = new UpstreamNode({ name: 'raw', url: raw.url }, 'devnet', limits);
    expect(await outcomeText(node)).toBe('7');
    limits.responseMaxBytes = 10;
    expect([await outcomeText(node), raw.sockets.length]).toEqual(['too-large', 1]);
    Object.assign(limits, { answerMaxBytes: 1_000, connectionsMax: 3 });
    raw.become(unresponsive);
    const asked = calls(3);
    await until(() => raw.requests.length === 5);
    for (const request of raw.requests.slice(2)) responding(request);
    expect(await Promise.all(asked)).toEqual(['7', '7', '7']);
  });

  it('carry each request in one piece, with its length', async () => {
    await open(responding);
    await outcomeText(node);
    const { head, body } = raw.requests[0]!;
    expect(head).toContain(`POST / HTTP/1.1\r\nhost: ${new URL(raw.url).host}\r\n`);
    expect(head).toMatch(/content-length: \d+$/);
    expect(JSON.parse(body)).toMatchObject({ method: 'getBalance', params: [] });
  });

  it.each([
    ['says that it closes', http('', ['connection: close'])],
    ['speaks HTTP/1.0', http('').replace('HTTP/1.1', 'HTTP/1.0')],
    ['keeps them for no time', http('', ['keep-alive: timeout=0'])],
  ])('are not used again when the node %s', async (_name, response) => {
    await open(({ socket, id }) => {
      const body = envelope(id);
      socket.write(response.replace('content-length: 0', `content-length: ${body.length}`) + body);
    });
    for (let i = 0; i < 3; i++) expect(await outcomeText(node)).toBe('7');
    expect(raw.sockets).toHaveLength(3);
    await until(() => raw.open() === 0);
  });

  it('are closed when they were unused for longer than the node keeps them', async () => {
    await open(({ socket, id }) => socket.write(http(envelope(id), ['keep-alive: timeout=1'])));
    await outcomeText(node);
    await new Promise((resolve) => setTimeout(resolve, 520));
    expect(await outcomeText(node)).toBe('7');
    expect(raw.sockets).toHaveLength(2);
  });

  it('are closed when nobody needs them for long', async () => {
    await open(responding, { idleTimeoutMs: 30 });
    await outcomeText(node);
    await until(() => raw.open() === 0);
  });

  it('close with the node, and nobody waits any longer', async () => {
    await open(unresponsive, { connectionsMax: 1 });
    const asked = calls(3);
    await until(() => raw.requests.length === 1);
    await node.close();
    expect(await Promise.all(asked)).toEqual(['sent, lost', 'unsent, lost', 'unsent, lost']);
    expect(await outcomeText(node)).toBe('unsent, lost');
    await until(() => raw.open() === 0);
  });
});

describe('bytes that nobody asked for', () => {
  it('are never the answer to the next request', async () => {
    await open(({ socket, id }) => socket.write(http(envelope(id)) + http(envelope(id + 1, '"forged"'))));
    for (let i = 0; i < 3; i++) expect(await outcomeText(node)).toBe('7');
    expect(raw.sockets).toHaveLength(3);
  });

  it('that come later close the connection as well', async () => {
    await open(responding);
    await outcomeText(node);
    raw.sockets[0]!.write(http(envelope(raw.requests[0]!.id + 1, '"forged"')));
    await until(() => raw.open() === 0);
    expect(await outcomeText(node)).toBe('7');
  });

  it('that were under way already when the next request left are seen by their id', async () => {
    await open(({ socket, id }) => {
      // Both are in the buffers of the machine before either is read.
      socket.write(http(envelope(id - 1, '"forged"')));
      socket.write(http(envelope(id)));
    });
    expect(await outcomeText(node)).toBe('garbage');
    raw.become(responding);
    expect(await outcomeText(node)).toBe('7');
    expect(raw.sockets).toHaveLength(2);
  });
});

describe('a request whose connection dies', () => {
  it.each<[string, RawScript]>([
    ['before an answer', ({ socket }) => socket.destroy()],
    ['with a reset', ({ socket }) => socket.resetAndDestroy()],
    ['in the head', ({ socket }) => socket.end('HTTP/1.1 200 OK\r\nconte')],
    ['in the body', ({ socket }) => socket.end('HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\n{"js')],
    [
      'in a long body',
      ({ socket }) => socket.end(`HTTP/1.1 200 OK\r\ncontent-length: 99000\r\n\r\n${'x'.repeat(50_000)}`),
    ],
    [
      'in a chunk',
      ({ socket }) => socket.end('HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n9\r\n{"js'),
    ],
    ['in words that are no HTTP', ({ socket }) => socket.write('220 smtp ready\r\n')],
    ['in a head without end', ({ socket }) => socket.write(`HTTP/1.1 200 OK\r\nx: ${'y'.repeat(30_000)}`)],
  ])('%s may have been read', async (_name, script) => {
    await open(script);
    expect(await outcomeText(node)).toBe('sent, lost');
    await until(() => raw.open() === 0);
    raw.become(responding);
    expect(await outcomeText(node)).toBe('7');
    expect(node.inFlight).toBe(0);
  });

  it('is not repeated when the node had closed a connection that was unused', async () => {
    await open(responding);
    await outcomeText(node);
    // The node closes in the moment in which the next request leaves.
    raw.become(({ socket }) => socket.destroy());
    expect(await outcomeText(node)).toBe('sent, lost');
    expect(raw.requests).toHaveLength(2);
  });

  it('was not sent when no connection came about', async () => {
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

  it('knows the node by a name that has several addresses', async () => {
    await open(responding);
    await node.close();
    node = nodeAt(raw.url.replace('127.0.0.1', 'localhost'));
    expect(await outcomeText(node)).toBe('7');
  });

  it('knows the node by a name of whose addresses the first leads nowhere', async () => {
    await open(responding);
    // What is read from others must not be taken for what this one says.
    await outcomeText(node);
    await node.close();
    const addresses = [
      { address: '::1', family: 6 },
      { address: '127.0.0.1', family: 4 },
    ];
    const lookup = vi.spyOn(dns, 'lookup');
    lookup.mockImplementation(((_name: string, _options: object, done: (...found: unknown[]) => void) =>
      done(null, addresses)) as never);
    raw.become(({ socket, id }) => socket.write(http(envelope(id, '"somebody else"'))));
    node = nodeAt(raw.url.replace('127.0.0.1', 'two.addresses.invalid'));
    expect(await outcomeText(node)).toBe('"somebody else"');
    expect(lookup).toHaveBeenCalledOnce();
  });
});

describe('a request that takes too long', () => {
  it('is given up at its time, with its connection', async () => {
    await open(responding);
    await outcomeText(node);
    raw.become(unresponsive);
    const { outcome, elapsedMs } = await sendOnce(node, 400);
    expect(outcome).toEqual({ kind: 'transport', bytesLeft: true, timedOut: true });
    expect(elapsedMs).toBeGreaterThanOrEqual(400);
    await until(() => raw.open() === 0);
  });

  it('is given up however slowly its answer comes', async () => {
    await open(responding);
    await outcomeText(node);
    raw.become(({ socket }) => {
      socket.write('HTTP/1.1 200 OK\r\ncontent-length: 1000\r\n\r\n');
      const drip = setInterval(() => socket.write('x'), 5);
      socket.on('close', () => clearInterval(drip));
    });
    expect(await outcomeText(node, 400)).toBe('sent, late');
  });

  it('never leaves when it waits for a connection until then', async () => {
    await open(unresponsive, { connectionsMax: 1 });
    const first = outcomeText(node);
    await until(() => raw.requests.length === 1);
    expect(await outcomeText(node, 50)).toBe('unsent, late');
    responding(raw.requests[0]!);
    expect(await first).toBe('7');
    expect(raw.requests).toHaveLength(1);
  });

  it('gives up on a host that takes no connection in time', async () => {
    await open(unresponsive);
    // Of those addresses that lead nowhere; where there is no way at all it fails at once.
    const nowhere = nodeAt('http://192.0.2.1:9/', { connectTimeoutMs: 100 });
    const startedAt = performance.now();
    expect(await outcomeText(nowhere)).toBe('unsent, lost');
    expect(performance.now() - startedAt).toBeLessThan(10_000);
    await nowhere.close();
  });
});

describe('a request that nobody wants any more', () => {
  it('ends with its connection, and what waits takes its place', async () => {
    await open(unresponsive, { connectionsMax: 1 });
    const leave = new AbortController();
    const left = attempt(node, call(), 20_000, leave.signal);
    await until(() => raw.requests.length === 1);
    const next = outcomeText(node);
    raw.become(responding);
    leave.abort();
    expect((await left).outcome).toEqual({ kind: 'aborted', bytesLeft: true });
    expect(await next).toBe('7');
    expect(raw.sockets).toHaveLength(2);
  });
});

describe('a light read that nobody wants any more', () => {
  /** Puts a read and gives it up once it has left. */
  async function abandonOne(): Promise<void> {
    const leave = new AbortController();
    const left = attempt(node, call(), 20_000, leave.signal);
    await until(() => raw.requests.length === 1);
    leave.abort();
    expect((await left).outcome).toEqual({ kind: 'aborted', bytesLeft: true });
  }

  it('leaves its connection to others once its answer has come, which is dropped', async () => {
    await open(unresponsive);
    await abandonOne();
    expect(node.inFlight).toBe(0);
    raw.become(responding);
    responding(raw.requests[0]!);
    await until(() => raw.sockets[0]!.bytesWritten > 0);
    // Another goes meanwhile, so that the answer has arrived.
    expect(await outcomeText(node)).toBe('7');
    expect(await outcomeText(node)).toBe('7');
    expect(raw.sockets.length).toBeLessThanOrEqual(2);
    expect(raw.open()).toBe(raw.sockets.length);
  });

  it('gives its connection up when no answer comes, or another needs the place', async () => {
    await open(unresponsive);
    await abandonOne();
    await until(() => raw.open() === 0);
    await node.close();
    node = nodeAt(raw.url, { connectionsMax: 2 });
    const held = outcomeText(node);
    await until(() => raw.requests.length === 2);
    const leave = new AbortController();
    // There is room for one more when it is given up; then there is none.
    const left = attempt(node, call(), 20_000, leave.signal);
    await until(() => raw.requests.length === 3);
    leave.abort();
    await left;
    raw.become(responding);
    expect(await outcomeText(node)).toBe('7');
    responding(raw.requests[1]!);
    expect(await held).toBe('7');
  });
});

describe('what a node sends', () => {
  it.each<[string, RawScript, string]>([
    ['a page for people', ({ socket }) => socket.write(http('<h1>no</h1>', [], '502 Bad Gateway')), 'status'],
    ['nothing', ({ socket }) => socket.write('HTTP/1.1 204 No Content\r\n\r\n'), 'status'],
    [
      'an answer that it announced',
      ({ socket, id }) => socket.write(`HTTP/1.1 100 Continue\r\n\r\n${http(envelope(id))}`),
      '7',
    ],
    [
      'more than may be',
      ({ socket }) => socket.write('HTTP/1.1 200 OK\r\ncontent-length: 999999\r\n\r\n'),
      'too-large',
    ],
    [
      'something packed',
      ({ socket }) => socket.write(http('\x1f\x8b\x08', ['content-encoding: gzip'])),
      'garbage',
    ],
  ])('may be %s', async (_name, script, expected) => {
    await open(script, { responseMaxBytes: 100_000 });
    expect(await outcomeText(node)).toBe(expected);
  });

  it('may be as large as an answer may be, and arrive in any pieces', async () => {
    const result = JSON.stringify('z'.repeat(300_000));
    await open(({ socket, id }) => {
      const bytes = Buffer.from(http(envelope(id, result)));
      for (let at = 0; at < bytes.length; at += 10_007) socket.write(bytes.subarray(at, at + 10_007));
    });
    expect(await outcomeText(node)).toBe(result);
    expect(await outcomeText(node)).toBe(result);
    expect(raw.sockets).toHaveLength(1);
  });
});
