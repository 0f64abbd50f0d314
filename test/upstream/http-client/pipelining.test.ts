import { afterEach, describe, expect, it } from 'vitest';
import type { UpstreamNode } from '../../../src/upstream/node.ts';
import { attempt } from '../../../src/upstream/retry/attempt.ts';
import { until } from '../mock/pool.ts';
import { call, nodeAt, outcomeText } from './node-rig.ts';
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
  await node.close();
  await raw.close();
});

async function open(script: RawScript, pipelining: number, connectionsMax = 1): Promise<void> {
  raw = await startRaw(script);
  node = nodeAt(raw.url, { connectionsMax }, { pipelining });
}

describe('pipelined requests', () => {
  it('are sent before the first response and answered in order', async () => {
    await open(unresponsive, 4);
    const pending = Array.from({ length: 6 }, () => outcomeText(node));
    await until(() => raw.requests.length === 4);
    raw.become(({ socket, id }) => socket.write(http(envelope(id, String(id)))));
    const [first, second, third, fourth] = raw.requests;
    const socket = raw.sockets[0]!;
    const bytes = [first, second, third, fourth]
      .map((one) => http(envelope(one!.id, String(one!.id))))
      .join('');
    // Split within the second.
    socket.write(bytes.slice(0, bytes.length / 3), () => socket.write(bytes.slice(bytes.length / 3)));
    expect(await Promise.all(pending)).toEqual(raw.requests.map(({ id }) => String(id)));
    expect(raw.sockets).toHaveLength(1);
  });

  it('are never combined with writes', async () => {
    await open(unresponsive, 8, 1);
    const read = outcomeText(node);
    const sent = outcomeText(node, 20_000, 'sendTransaction');
    const readAfter = outcomeText(node);
    await until(() => raw.requests.length === 1);
    responding(raw.requests[0]!);
    await until(() => raw.requests.length === 2);
    expect(raw.requests[1]!.body).toContain('sendTransaction');
    await read;
    responding(raw.requests[1]!);
    await until(() => raw.requests.length === 3);
    responding(raw.requests[2]!);
    expect(await Promise.all([sent, readAfter])).toEqual(['7', '7']);
  });

  it('fail together, as possibly read', async () => {
    await open(unresponsive, 4);
    const pending = Array.from({ length: 4 }, () => outcomeText(node));
    await until(() => raw.requests.length === 4);
    responding(raw.requests[0]!);
    raw.sockets[0]!.end();
    expect(await Promise.all(pending)).toEqual(['7', 'sent, lost', 'sent, lost', 'sent, lost']);
  });

  it('continue when one is aborted, whose response is discarded', async () => {
    await open(unresponsive, 4);
    const leave = new AbortController();
    const left = attempt(node, call(), 20_000, leave.signal);
    const reused = outcomeText(node);
    await until(() => raw.requests.length === 2);
    leave.abort();
    expect((await left).outcome.kind).toBe('aborted');
    for (const request of raw.requests) responding(request);
    expect(await reused).toBe('7');
    raw.become(responding);
    expect(await outcomeText(node)).toBe('7');
    expect(raw.sockets).toHaveLength(1);
  });

  it('are not added to a connection with a timed out request', async () => {
    await open(responding, 4, 2);
    await outcomeText(node);
    raw.become(unresponsive);
    const late = outcomeText(node, 400);
    const patient = outcomeText(node);
    expect(await late).toBe('sent, late');
    raw.become(responding);
    expect(await outcomeText(node)).toBe('7');
    expect(raw.sockets).toHaveLength(2);
    for (const request of raw.requests.slice(1, 3)) responding(request);
    expect(await patient).toBe('7');
  });
});
