import { setTimeout as sleep } from 'node:timers/promises';
import { ProxyGroup } from '../chaos/proxy-group.ts';
import { type RunningService, startService } from '../service/start-service.ts';
import { START_MS } from './localnet.ts';

export type OutageOptions = Readonly<{
  minutes: number;
  /** Seconds between outages; 0 for none. */
  every: number;
  /** Seconds that a node is down. */
  down: number;
  /** Freezes nodes (half-open connections) instead of killing them. */
  freeze: boolean;
  /** Every nth outage takes all nodes down. */
  allEvery: number;
  /** No outage starts later than this before the end. */
  lastBeforeEndMs: number;
  /** Receives the nodes that go down, as text. */
  onDown: (which: string) => void;
  /** Runs around the outages of all nodes. */
  beforeAllDown?: () => Promise<void>;
  whileAllDown?: () => Promise<void>;
  afterAllDown?: () => Promise<void>;
}>;

type NodePorts = readonly [rpc: number, stream: number];

/** The program with two nodes, each behind its own proxies. */
export type InFront = Readonly<{
  service: RunningService;
  nodes: readonly ProxyGroup[];
  stop: () => Promise<void>;
}>;

/** @param ports - of JSON-RPC, and of PubSub for `ws` or of the gRPC server, of each of the two nodes. */
export async function startInFront(
  ports: readonly [NodePorts, NodePorts],
  stream: 'ws' | 'grpc',
  configuration = '',
): Promise<InFront> {
  const nodes = await Promise.all(ports.map((node) => ProxyGroup.start(...node)));
  const streamArguments = (port: number): string[] =>
    stream === 'ws'
      ? ['--ws', `ws://127.0.0.1:${port}/`]
      : ['--ws', 'off', '--grpc', `http://127.0.0.1:${port}`];
  const service = await startService({
    ...{ timeoutMs: START_MS, configuration },
    arguments: nodes.flatMap((node, at) => [
      ...['--upstream', `http://127.0.0.1:${node.port(0)}/?node=${at}`],
      ...streamArguments(node.port(1)),
    ]),
  });
  const stop = async (): Promise<void> => {
    await service.stop();
    await Promise.all(nodes.map((node) => node.close()));
  };
  return { service, nodes, stop };
}

/** Takes one node down after the other until the time is over. @returns the number of outages. */
export async function takeDownInTurn(nodes: readonly ProxyGroup[], options: OutageOptions): Promise<number> {
  const { freeze } = options;
  const startedAt = performance.now();
  const endAt = startedAt + options.minutes * 60_000;
  const every = options.every === 0 ? Number.POSITIVE_INFINITY : options.every * 1_000;
  for (let count = 0, alone = 0, next = startedAt; ; count++) {
    next = Math.max(next + every, performance.now());
    await sleep(Math.max(0, Math.min(next, endAt) - performance.now()));
    if (endAt - performance.now() <= options.lastBeforeEndMs) {
      await sleep(Math.max(0, endAt - performance.now()));
      return count;
    }
    const isAll = count % options.allEvery === options.allEvery - 1;
    const at = isAll ? 0 : alone++ % nodes.length;
    if (isAll) await options.beforeAllDown?.();
    options.onDown(isAll ? 'all nodes' : `node ${at + 1}`);
    const affected = isAll ? nodes : [nodes[at]!];
    await Promise.all(affected.map((node) => (freeze ? node.freeze() : node.kill())));
    const upAt = performance.now() + options.down * 1_000;
    if (isAll) await options.whileAllDown?.();
    await sleep(Math.max(0, upAt - performance.now()));
    await Promise.all(affected.map((node) => (freeze ? node.thaw() : node.revive())));
    if (isAll) await options.afterAllDown?.();
  }
}
