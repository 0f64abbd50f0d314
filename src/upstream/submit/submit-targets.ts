import type { Network } from '../../protocol/call.ts';
import { PowerOfTwoSelector } from '../balancing/load-balancer.ts';
import type { UpstreamNode } from '../node.ts';
import type { UpstreamPool } from '../pool.ts';

/** Available nodes: usable ones, or any if none is usable. */
function readyOf(
  list: readonly UpstreamNode[],
  isUsable: (node: UpstreamNode, now: number) => boolean,
): readonly UpstreamNode[] {
  const now = performance.now();
  const available = list.filter((node) => node.isAvailable(now));
  const usable = available.filter((node) => isUsable(node, now));
  return usable.length > 0 ? usable : available;
}

/** Polled nodes: a poll detects their recovery. */
const isHealthy = (node: UpstreamNode, now: number): boolean => node.isHealthy(now);
/** Send-only endpoints are not polled: only a transaction can detect their recovery. */
const isUsable = (node: UpstreamNode, now: number): boolean => node.isUsable(now);

/** Nodes and send-only endpoints that accept transactions. */
export class SubmitTargets {
  readonly #pool: Pick<UpstreamPool, 'nodesOf'>;
  readonly #selector = new PowerOfTwoSelector();
  readonly #sendOnly: ReadonlyMap<Network, readonly UpstreamNode[]>;

  /** @param sendOnly - endpoints that accept transactions only. */
  constructor(
    pool: Pick<UpstreamPool, 'nodesOf'>,
    sendOnly: ReadonlyMap<Network, readonly UpstreamNode[]> = new Map(),
  ) {
    this.#pool = pool;
    this.#sendOnly = sendOnly;
  }

  /** Available nodes; the preferred one first. */
  nodes(network: Network): readonly UpstreamNode[] {
    // Moves a selected node to the front.
    const list = readyOf(this.#pool.nodesOf(network), isHealthy);
    const selector = this.#selector;
    for (const node of list) selector.consider(node, 0);
    const first = selector.pick();
    return first === null ? list : [first, ...list.filter((node) => node !== first)];
  }

  sendOnly(network: Network): readonly UpstreamNode[] {
    return readyOf(this.#sendOnly.get(network) ?? [], isUsable);
  }

  isSendOnly(node: UpstreamNode): boolean {
    return this.#sendOnly.get(node.network)?.includes(node) === true;
  }

  close(): void {
    for (const node of [...this.#sendOnly.values()].flat()) node.close();
  }
}
