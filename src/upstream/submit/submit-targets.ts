import type { Network } from '../../protocol/call.ts';
import type { MethodName } from '../../protocol/methods.ts';
import { PowerOfTwoSelector, selectAvailable, withLowest } from '../balancing/load-balancer.ts';
import type { UpstreamNode } from '../node.ts';

type NodeSource = Readonly<{ nodesFor(network: Network, method: string): readonly UpstreamNode[] }>;

const METHOD: MethodName = 'sendTransaction';

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
    const nodes = this.#pool.nodesFor(network, METHOD);
    const available = selectAvailable(nodes, (node, now) => node.isHealthy(now));
    const list = withLowest('priority', available);
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
