import type { Network } from '../../protocol/call.ts';
import { ofBestPriority, PowerOfTwoSelector, selectAvailable } from '../balancing/load-balancer.ts';
import type { UpstreamNode } from '../node.ts';

type NodeSource = Readonly<{ nodesOf(network: Network): readonly UpstreamNode[] }>;

export class SubmitTargets {
  readonly #pool: NodeSource;
  readonly #selector = new PowerOfTwoSelector();
  readonly #sendOnly: ReadonlyMap<Network, readonly UpstreamNode[]>;

  constructor(pool: NodeSource, sendOnly: ReadonlyMap<Network, readonly UpstreamNode[]> = new Map()) {
    this.#pool = pool;
    this.#sendOnly = sendOnly;
  }

  /** Available nodes of the best priority, with the preferred node first. */
  nodes(network: Network): readonly UpstreamNode[] {
    // An unhealthy node can be skipped, since a poll detects its recovery.
    const available = selectAvailable(this.#pool.nodesOf(network), (node, now) => node.isHealthy(now));
    const list = ofBestPriority(available);
    const selector = this.#selector;
    for (const node of list) selector.consider(node, 0);
    const preferred = selector.pick();
    return preferred === null ? list : [preferred, ...list.filter((node) => node !== preferred)];
  }

  sendOnly(network: Network): readonly UpstreamNode[] {
    // Send-only endpoints are not polled, so only a transaction can detect their recovery.
    return selectAvailable(this.#sendOnly.get(network) ?? [], (node, now) => node.isUsable(now));
  }

  isSendOnly(node: UpstreamNode): boolean {
    return this.#sendOnly.get(node.network)?.includes(node) === true;
  }

  close(): void {
    for (const node of [...this.#sendOnly.values()].flat()) node.close();
  }
}
