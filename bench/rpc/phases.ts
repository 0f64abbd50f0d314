import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import type { OpenLoopOrder, OpenLoopWord } from './open-loop-messages.ts';
import { busyShare, cpuSeconds, LOAD_CPU, processorTime } from './processes.ts';
import type { Server } from './servers.ts';
import { type LoadSettings, load } from './wrk.ts';

/** Result of a server under full load. */
export type FullLoad = Readonly<{
  requests: number;
  /** CPU seconds of the server and its children. */
  cpuSeconds: number;
  requestsPerCpuSecond: number;
  /** Share of one CPU used; below 1 something else was the bottleneck. */
  busy: number;
  /** CPU seconds of the node, and load of the CPU that it shares with the load generator. */
  nodeCpuSeconds: number;
  loadProcessorBusy: number;
  p50Ms: number;
  p99Ms: number;
}>;

const cpuOf = ({ process }: Server): number => cpuSeconds(process.pid ?? 0);

export async function fullLoad(
  server: Server,
  node: Server,
  { script, connections, seconds }: Readonly<{ script: string; connections: number; seconds: number }>,
): Promise<FullLoad> {
  const [own, nodes, processor, from] = [
    cpuOf(server),
    cpuOf(node),
    processorTime(LOAD_CPU),
    performance.now(),
  ];
  const { requests, p50Ms, p99Ms } = await load(script, server, { connections, seconds });
  const spent = cpuOf(server) - own;
  return {
    requests,
    cpuSeconds: spent,
    requestsPerCpuSecond: requests / spent,
    busy: (spent * 1_000) / (performance.now() - from),
    nodeCpuSeconds: cpuOf(node) - nodes,
    loadProcessorBusy: busyShare(LOAD_CPU, processor),
    ...{ p50Ms, p99Ms },
  };
}

/** Warm-up: ends after this many requests or this time. */
const WARM_REQUESTS = 200_000;
const WARM_MAX_SECONDS = 30;
const WARM_STEP_SECONDS = 2;

export async function warmUp(
  server: Server,
  { script, ...settings }: Omit<LoadSettings, 'seconds'> & Readonly<{ script: string }>,
): Promise<void> {
  let warm = 0;
  for (let spent = 0; warm < WARM_REQUESTS && spent < WARM_MAX_SECONDS; spent += WARM_STEP_SECONDS)
    warm += (await load(script, server, { ...settings, seconds: WARM_STEP_SECONDS })).requests;
}

/**
 * Measures latency at a fixed rate.
 * @throws Error when a request failed.
 */
export async function openLoop(
  loop: ChildProcess,
  server: Server,
  order: Omit<OpenLoopOrder, 'port'>,
): Promise<OpenLoopWord> {
  const received = once(loop, 'message');
  loop.send({ ...order, port: server.port } satisfies OpenLoopOrder);
  const [message] = (await received) as [OpenLoopWord];
  if (message.failures > 0)
    throw new Error(
      `${server.name} failed ${message.failures} of ${message.requests} requests: the comparison is invalid`,
    );
  return message;
}
