import type { UpstreamNode } from '../node.ts';

/** Nodes of the right chain, without those that the operator took out of service unless that is all of them. */
export function inService(nodes: readonly UpstreamNode[]): readonly UpstreamNode[] {
  const sameChain = nodes.some((node) => node.wrongChain) ? nodes.filter((node) => !node.wrongChain) : nodes;
  if (!sameChain.some((node) => node.cordon !== null)) return sameChain;
  const uncordoned = sameChain.filter((node) => node.cordon === null);
  return uncordoned.length === 0 ? sameChain : uncordoned;
}
