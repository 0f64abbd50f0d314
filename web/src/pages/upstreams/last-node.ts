import type { NodeJson } from '../../../../src/control/api/contract/operator.ts';

const isReady = ({ state, drained }: NodeJson): boolean =>
  !drained && (state === 'healthy' || state === 'cordoned');

/** Mirrors `isLastNode` of src/control/api/handlers/nodes.ts. */
export function isOnlyActive(nodes: readonly NodeJson[], { network, name }: NodeJson): boolean {
  const own = nodes.filter((node) => node.network === network);
  const isLastOf = (those: readonly NodeJson[]): boolean =>
    those.length > 0 && those.every((node) => node.name === name);
  return isLastOf(own.filter(({ drained }) => !drained)) || isLastOf(own.filter(isReady));
}

export const isOnlyGeyser = (nodes: readonly NodeJson[], node: NodeJson): boolean =>
  node.hasGrpc &&
  isOnlyActive(
    nodes.filter(({ hasGrpc }) => hasGrpc),
    node,
  );

export const isLastOf = (nodes: readonly NodeJson[], { network, name }: NodeJson): boolean =>
  nodes.every((node) => node.network !== network || node.name === name || node.cordoned);
