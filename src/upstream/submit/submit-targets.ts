import type { Network } from '../../protocol/call.ts';
import { PowerOfTwoSelector } from '../balancing/load-balancer.ts';
import type { UpstreamNode } from '../node.ts';
import type { UpstreamPool } from '../pool.ts';

/** Usable nodes; if there are none, all available nodes. */
function selectReady(
  list: readonly UpstreamNode[],
  isUsable: (node: UpstreamNode, now: number) => boolean,
): readonly UpstreamNode[] {
  const now = performance.now();
  const available = list.filter((node) => node.isAvailable(now));
  const usable = available.filter((node) => isUsable(node, now));
  return usable.length > 0 ? usable : available;
}

/** For polled nodes. An unhealthy node can be skipped, since a poll detects its recovery. */
const isHealthy = (node: UpstreamNode, now: number): boolean => node.isHealthy(now);
/** For send-only endpoints. They are not polled, so only a transaction detects recovery. */
const isUsable = (node: UpstreamNode, now: number): boolean => node.isUsable(now);

/** Nodes and send-only endpoints that accept transactions. */
export class SubmitTargets {
  readonly #pool: Pick<UpstreamPool, 'nodesOf'>;
  readonly #selector = new PowerOfTwoSelector();
  readonly #sendOnly: ReadonlyMap<Network, readonly UpstreamNode[]>;

  /** @param sendOnly - endpoints that accept only transactions. */
  constructor(
    pool: Pick<UpstreamPool, 'nodesOf'>,
    sendOnly: ReadonlyMap<Network, readonly UpstreamNode[]> = new Map(),
  ) {
    this.#pool = pool;
    this.#sendOnly = sendOnly;
  }

  /** Available nodes; the preferred one first. */
  nodes(network: Network): readonly UpstreamNode[] {
    const list = selectReady(this.#pool.nodesOf(network), isHealthy);
    const selector = this.#selector;
    for (const node of list) selector.consider(node, 0);
    const preferred = selector.pick();
    return preferred === null ? list : [preferred, ...list.filter((node) => node !== preferred)];
  }

  sendOnly(network: Network): readonly UpstreamNode[] {
    return selectReady(this.#sendOnly.get(network) ?? [], isUsable);
  }

  isSendOnly(node: UpstreamNode): boolean {
    return this.#sendOnly.get(node.network)?.includes(node) === true;
  }

  close(): void {
    for (const node of [...this.#sendOnly.values()].flat()) node.close();
  }
}
