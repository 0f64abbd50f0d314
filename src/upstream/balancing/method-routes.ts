import { matchesPattern, patternsOf } from '../../protocol/method-patterns.ts';
import { methods } from '../../protocol/methods.ts';
import type { UpstreamNode } from '../node.ts';
import { inService } from './load-balancer.ts';

/** Exact names before prefixes, and longer prefixes before shorter ones. */
const bySpecificity = (one: string, other: string): number =>
  Number(one.endsWith('*')) - Number(other.endsWith('*')) || other.length - one.length;

/** A call goes to the nodes that list the most specific pattern that matches its method. */
export class MethodRoutes {
  readonly #routes: readonly (readonly [pattern: string, nodes: readonly UpstreamNode[]])[];
  /** For methods that no node lists, as may happen with nodes that were added at run time. */
  readonly #others: readonly UpstreamNode[];
  readonly #nodesByMethod = new Map<string, readonly UpstreamNode[]>();

  private constructor(members: readonly UpstreamNode[], candidates: readonly UpstreamNode[]) {
    this.#others = inService(candidates);
    const patterns = [...new Set(members.flatMap(patternsOf))].sort(bySpecificity);
    this.#routes = patterns.map((pattern) => [
      pattern,
      inService(candidates.filter((node) => patternsOf(node).includes(pattern))),
    ]);
  }

  /**
   * @param members - all nodes, so that a drained node keeps its methods from other nodes.
   * @param candidates - nodes that may get calls.
   * @returns null if every node serves every method.
   */
  static of(members: readonly UpstreamNode[], candidates: readonly UpstreamNode[]): MethodRoutes | null {
    return members.every((node) => node.methods === null) ? null : new MethodRoutes(members, candidates);
  }

  nodesFor(method: string): readonly UpstreamNode[] {
    const cached = this.#nodesByMethod.get(method);
    if (cached !== undefined) return cached;
    const [, nodes] = this.#routes.find(([pattern]) => matchesPattern(pattern, method)) ?? [
      null,
      this.#others,
    ];
    // Other names come from clients.
    if (Object.hasOwn(methods, method)) this.#nodesByMethod.set(method, nodes);
    return nodes;
  }
}
