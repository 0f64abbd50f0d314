import type { Network } from '../../protocol/call.ts';
import { PowerOfTwoSelector } from '../balancing/load-balancer.ts';
import type { UpstreamNode } from '../node.ts';
import type { UpstreamPool } from '../pool.ts';

/** Those of the list that may be asked now: the good ones, or any where none is good. */
function readyOf(
  list: readonly UpstreamNode[],
  isUsable: (node: UpstreamNode, now: number) => boolean,
): readonly UpstreamNode[] {
  const now = performance.now();
  const available = list.filter((node) => node.isAvailable(now));
  const usable = available.filter((node) => isUsable(node, now));
  return usable.length > 0 ? usable : available;
}

/** Polls find out when it is back. */
const isHealthy = (node: UpstreamNode, now: number): boolean => node.isHealthy(now);
/** Nothing but a transaction finds out whether it is back. */
const isUsable = (node: UpstreamNode, now: number): boolean => node.isUsable(now);

/** The same with one in front that is not busy. */
function preferredFirst(
  list: readonly UpstreamNode[],
  selector: PowerOfTwoSelector,
): readonly UpstreamNode[] {
  for (const node of list) selector.consider(node, 0);
  const first = selector.pick();
  return first === null ? list : [first, ...list.filter((node) => node !== first)];
}

/** Everybody who takes transactions. */
export class SubmitTargets {
  readonly #pool: Pick<UpstreamPool, 'nodesOf'>;
  readonly #selector = new PowerOfTwoSelector();
  readonly #sendOnly: ReadonlyMap<Network, readonly UpstreamNode[]>;

  /** @param sendOnly - endpoints that take transactions and answer nothing else. */
  constructor(
    pool: Pick<UpstreamPool, 'nodesOf'>,
    sendOnly: ReadonlyMap<Network, readonly UpstreamNode[]> = new Map(),
  ) {
    this.#pool = pool;
    this.#sendOnly = sendOnly;
  }

  /** Nodes that may be asked now, in front the one to ask first. */
  nodes(network: Network): readonly UpstreamNode[] {
    return preferredFirst(readyOf(this.#pool.nodesOf(network), isHealthy), this.#selector);
  }

  /** Endpoints for sending alone that may be asked now. */
  sendOnly(network: Network): readonly UpstreamNode[] {
    return readyOf(this.#sendOnly.get(network) ?? [], isUsable);
  }

  isSendOnly(node: UpstreamNode): boolean {
    return this.#sendOnly.get(node.network)?.includes(node) === true;
  }

  /** Closes the connections to endpoints for sending alone. */
  close(): void {
    for (const node of [...this.#sendOnly.values()].flat()) node.close();
  }
}
