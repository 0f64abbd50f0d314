import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openStreams } from '../../../src/app/upstreams/streams.ts';
import { openUpstreams, type Upstreams } from '../../../src/app/upstreams/upstreams.ts';
import { createLogger } from '../../../src/base/log.ts';
import { loadConfiguration } from '../../../src/config/configuration.ts';
import { readRawUpdate } from '../../../src/protocol/geyser/read-raw-update.ts';
import type { GrpcStatus } from '../../../src/protocol/grpc/status.ts';
import { signatureFromBytes } from '../../../src/solana/signature.ts';
import type { GeyserSink } from '../../../src/streams/geyser/geyser-sink.ts';
import { Recorder } from '../feeds/listener.ts';
import { subscriptionOf, until } from '../feeds/stage.ts';
import {
  FIRST_SLOT,
  LAST_SLOT,
  lamportsAt,
  signatureAt,
  TRANSACTIONS,
  writtenAddress,
} from './scripted-chain.ts';

type NodeStatus = Readonly<{ openStreams: number; opened: number }>;

class ChainNode {
  readonly #firstVersion: number;
  #child: ChildProcess | null = null;
  #position = 0;
  rpcPort = 0;
  grpcPort = 0;
  length = 0;

  constructor(firstVersion: number) {
    this.#firstVersion = firstVersion;
  }

  async start(): Promise<void> {
    const args = [this.rpcPort, this.grpcPort, this.#firstVersion].map(String);
    this.#child = fork(join(import.meta.dirname, 'chain-node.ts'), args);
    const [ready] = await once(this.#child, 'message');
    Object.assign(this, ready);
    await this.advance(this.#position);
  }

  async advance(to: number): Promise<NodeStatus | null> {
    this.#position = Math.max(this.#position, to);
    const child = this.#child;
    if (child === null) return null;
    child.send(to);
    const [status] = await once(child, 'message');
    return status as NodeStatus;
  }

  /** Sets the chain position at which the node restarts. */
  skipTo(position: number): void {
    this.#position = position;
  }

  async kill(): Promise<void> {
    const child = this.#child;
    this.#child = null;
    if (child === null) return;
    child.kill('SIGKILL');
    await once(child, 'exit');
  }
}

class RecordingSink implements GeyserSink {
  readonly received: string[] = [];
  status: GrpcStatus | null = null;

  push(_names: Uint8Array, tail: Uint8Array): void {
    const update = readRawUpdate(tail, 0);
    if (update?.kind === 'transaction') this.received.push(signatureFromBytes(update.signature));
    if (update?.kind === 'account') this.received.push(String(update.lamports));
    if (update?.kind === 'slot') this.received.push(`${update.slot} ${update.status}`);
  }

  end(status: GrpcStatus): void {
    this.status = status;
  }

  lag(): void {
    this.status = { code: 'ABORTED', message: '' };
  }
}

const numbersFrom = (first: number, count: number): number[] =>
  Array.from({ length: count }, (_, at) => first + at);
const perTransaction = <Value>(
  from: number,
  to: number,
  of: (slot: number, index: number) => Value,
): Value[] =>
  numbersFrom(from, to - from + 1).flatMap((slot) =>
    numbersFrom(0, TRANSACTIONS).map((index) => of(slot, index)),
  );

const SLOT_UPDATES = 10;
const SIGNATURE_SLOT = 128;

describe('subscribers while Geyser nodes are killed', () => {
  const nodes = [new ChainNode(1), new ChainNode(900_000)] as const;
  const recorders = new Map<string, Recorder>();
  const sink = new RecordingSink();
  const log: string[] = [];
  let upstreams: Upstreams;
  let stopStreams = (): void => {};
  let position = 0;

  const recorder = (name: string): Recorder => recorders.get(name)!;
  const resultsOf = (name: string) => recorder(name).results;

  const open = async (name: string, kind: Parameters<typeof subscriptionOf>[0], ...params: unknown[]) => {
    const created = new Recorder();
    recorders.set(name, created);
    await upstreams.feed.open(subscriptionOf(kind, ...params), created);
  };

  /** Advances the nodes in small steps. The second node stays a few updates behind. */
  const advance = async (count: number): Promise<(NodeStatus | null)[]> => {
    let statuses: (NodeStatus | null)[] = [];
    for (const end = Math.min(position + count, nodes[0].length + 5); position < end; ) {
      position = Math.min(position + 3, end);
      statuses = await Promise.all(nodes.map((node, at) => node.advance(Math.max(0, position - at * 5))));
    }
    return statuses;
  };

  const openAll = async (): Promise<void> => {
    for (const commitment of ['processed', 'confirmed']) {
      await open(`account ${commitment}`, 'account', writtenAddress, { commitment, encoding: 'base64' });
      await open(`logs ${commitment}`, 'logs', 'all', { commitment });
    }
    await open('slot', 'slot');
    await open('root', 'root');
    const details = { transactionDetails: 'signatures', commitment: 'confirmed' };
    await open('block', 'block', 'all', details);
    await open('signature', 'signature', signatureAt(SIGNATURE_SLOT, 1), { commitment: 'confirmed' });
  };

  beforeAll(async () => {
    await Promise.all(nodes.map((node) => node.start()));
    const configuration = loadConfiguration(
      {
        config: '/dev/null',
        upstreams: nodes.map(({ rpcPort, grpcPort }, at) => ({
          ...{ name: `node-${at}`, url: `http://127.0.0.1:${rpcPort}`, ws: 'off', network: 'devnet' },
          grpc: `http://127.0.0.1:${grpcPort}`,
        })),
      },
      {},
    );
    const logger = createLogger('warn', (line) => log.push(line));
    upstreams = openUpstreams(configuration, null, logger);
    const streams = openStreams(configuration, upstreams, null, logger);
    stopStreams = streams.stop;
    const grpc = streams.standard.open('Subscribe', sink);
    await grpc.request({
      slots: new Map([['s', { filterByCommitment: true }]]),
      transactions: new Map([['t', {}]]),
      accounts: new Map([['a', { account: [writtenAddress] }]]),
    });
    for (const node of nodes) {
      while ((await node.advance(0))?.openStreams !== 1) await sleep(5);
    }
    await advance(2 * SLOT_UPDATES);
    await until(() => sink.received.includes(`${FIRST_SLOT} processed`), 'the first slot');
  });
  afterAll(async () => {
    stopStreams();
    await upstreams?.stop();
    await Promise.all(nodes.map((node) => node.kill()));
  });

  it('share one stream per node', async () => {
    await openAll();
    const statuses = await advance(SLOT_UPDATES);
    expect(statuses.map((status) => status?.openStreams)).toEqual([1, 1]);
  });

  it('receive everything once and in order when one or both nodes are killed and restarted', async () => {
    for (const victim of [0, 1, 0]) {
      await advance(3 * SLOT_UPDATES + 4);
      await nodes[victim]!.kill();
      await advance(4 * SLOT_UPDATES);
      await nodes[victim]!.start();
      await advance(SLOT_UPDATES);
    }
    await Promise.all(nodes.map((node) => node.kill()));
    position += 3 * SLOT_UPDATES;
    for (const node of nodes) node.skipTo(position);
    await Promise.all(nodes.map((node) => node.start()));
    await advance(nodes[0].length);
    const lastConfirmed = LAST_SLOT - 2;
    const lastOf = (name: string, last: unknown): Promise<void> =>
      recorder(name).until(({ raw }) => raw.at(-1)?.includes(String(last)) ?? false, `the last of ${name}`);
    await lastOf('slot', `"slot":${LAST_SLOT}`);
    // The last slot triggers the last reads; its own block is confirmed later.
    await recorder('block').until(({ results }) => results.at(-1)?.value.slot >= LAST_SLOT - 4, 'the blocks');
    await until(() => sink.received.includes(`${LAST_SLOT} processed`), 'the last slot');
    await recorder('root').until(({ results }) => results.at(-1) === LAST_SLOT - 4, 'the last root');
    for (const { failures } of recorders.values()) expect(failures).toEqual([]);

    const slots = resultsOf('slot').map(({ slot }) => slot);
    expect(slots).toEqual(numbersFrom(slots[0], LAST_SLOT - slots[0] + 1));
    expect(slots[0]).toBeLessThan(FIRST_SLOT + 6);
    const roots = resultsOf('root');
    expect(roots).toEqual(numbersFrom(roots[0], roots.length));
    const blocks = resultsOf('block').map(({ value }) => value.slot);
    expect(blocks).toEqual(numbersFrom(blocks[0], blocks.length));
    for (const [commitment, to] of [
      ['processed', LAST_SLOT],
      ['confirmed', lastConfirmed],
    ] as const) {
      await lastOf(`logs ${commitment}`, signatureAt(to, TRANSACTIONS - 1));
      await lastOf(`account ${commitment}`, `"lamports":${lamportsAt(to, TRANSACTIONS - 1)}`);
      const logs = resultsOf(`logs ${commitment}`).map(({ value }) => value.signature);
      const from = FIRST_SLOT;
      const writes = resultsOf(`account ${commitment}`).map(({ value }) => value.lamports);
      const all = perTransaction(from, to, signatureAt);
      expect(logs).toEqual(all.slice(all.indexOf(logs[0])));
      const states =
        commitment === 'processed'
          ? perTransaction(from, to, lamportsAt)
          : numbersFrom(from, to - from + 1).map((slot) => lamportsAt(slot, TRANSACTIONS - 1));
      expect(writes).toEqual(states.slice(states.indexOf(writes[0])));
    }
    expect(resultsOf('signature')).toEqual([{ context: { slot: SIGNATURE_SLOT }, value: { err: null } }]);

    expect(sink.status).toBeNull();
    const isSlot = (name: string): boolean => name.endsWith(' processed');
    expect(sink.received.filter(isSlot)).toEqual(
      numbersFrom(FIRST_SLOT, LAST_SLOT - FIRST_SLOT + 1).map((slot) => `${slot} processed`),
    );
    expect(sink.received.filter((name) => !name.includes(' ')).sort()).toEqual(
      [
        ...perTransaction(FIRST_SLOT, LAST_SLOT, signatureAt),
        ...perTransaction(FIRST_SLOT, LAST_SLOT, (slot, index) => String(lamportsAt(slot, index))),
      ].sort(),
    );
  });
});
