import type { UpstreamNode } from './node.ts';

/** Nodes of the right chain, without those that the operator took out of service unless that is all of them. */
export function inService(nodes: readonly UpstreamNode[]): readonly UpstreamNode[] {
  const right = nodes.some((node) => node.wrongChain) ? nodes.filter((node) => !node.wrongChain) : nodes;
  if (!right.some((node) => node.cordon !== null)) return right;
  const open = right.filter((node) => node.cordon === null);
  return open.length === 0 ? right : open;
}
