import type { Network } from '../../protocol/call.ts';
import { Draw } from '../choice.ts';
import type { UpstreamNode } from '../node.ts';
import type { UpstreamPool } from '../pool.ts';

/** Those of the list that may be asked now: the good ones, or any where none is good. */
function readyOf(
  list: readonly UpstreamNode[],
  isGood: (node: UpstreamNode, now: number) => boolean,
): readonly UpstreamNode[] {
  const now = performance.now();
  const free = list.filter((node) => node.isFree(now));
  const good = free.filter((node) => isGood(node, now));
  return good.length > 0 ? good : free;
}

/** Polls find out when it is back. */
const isWell = (node: UpstreamNode, now: number): boolean => node.isWell(now);
/** Nothing but a transaction finds out whether it is back. */
const isGood = (node: UpstreamNode, now: number): boolean => node.isGood(now);

/** The same with one in front that is not busy. */
function firstInFront(list: readonly UpstreamNode[], draw: Draw): readonly UpstreamNode[] {
  for (const node of list) draw.offer(node, 0);
  const first = draw.take();
  return first === null ? list : [first, ...list.filter((node) => node !== first)];
}

/** Everybody who takes transactions. */
export class Senders {
  readonly #pool: Pick<UpstreamPool, 'nodesOf'>;
  readonly #draw = new Draw();
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
    return firstInFront(readyOf(this.#pool.nodesOf(network), isWell), this.#draw);
  }

  /** Endpoints for sending alone that may be asked now. */
  sendOnly(network: Network): readonly UpstreamNode[] {
    return readyOf(this.#sendOnly.get(network) ?? [], isGood);
  }

  isSendOnly(node: UpstreamNode): boolean {
    return this.#sendOnly.get(node.network)?.includes(node) === true;
  }

  /** Closes the connections to endpoints for sending alone. */
  close(): void {
    for (const node of [...this.#sendOnly.values()].flat()) node.close();
  }
}
