import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import type { OpenLoopOrder, OpenLoopWord } from './open-loop-messages.ts';
import { busyShare, cpuSeconds, LOAD_CPU, processorTime } from './processes.ts';
import type { Server } from './servers.ts';
import { load } from './wrk.ts';

/** What one server did under as much load as it takes. */
export type FullLoad = Readonly<{
  requests: number;
  /** CPU seconds of the server, user and system, with all its processes. */
  cpuSeconds: number;
  requestsPerCpuSecond: number;
  /** How much of one processor it used; less than all: something else had no more to give. */
  busy: number;
  /** CPU seconds of the node, and how busy the processor was that it shares with the load. */
  nodeCpuSeconds: number;
  loadProcessorBusy: number;
  p50Ms: number;
  p99Ms: number;
}>;

const cpuOf = ({ process }: Server): number => cpuSeconds(process.pid ?? 0);

/** Loads a server for a while and says what that cost it. */
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

/** So many requests warm a server, for no longer than that: compilers and caches settle. */
const WARM_REQUESTS = 200_000;
const WARM_MAX_SECONDS = 30;
const WARM_STEP_SECONDS = 2;

/** Loads a server until it is warm; a machine that is busy with other things takes longer for that. */
export async function warmUp(
  server: Server,
  { script, connections }: Readonly<{ script: string; connections: number }>,
): Promise<void> {
  let warm = 0;
  for (let spent = 0; warm < WARM_REQUESTS && spent < WARM_MAX_SECONDS; spent += WARM_STEP_SECONDS)
    warm += (await load(script, server, { connections, seconds: WARM_STEP_SECONDS })).requests;
}

/**
 * Asks at a fixed rate, and says how long that took.
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
      `${server.name} failed ${message.failures} of ${message.requests} requests: nothing to compare`,
    );
  return message;
}
