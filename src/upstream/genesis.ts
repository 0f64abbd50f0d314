import type { Call, Network, RpcResponse } from '../protocol/call.ts';
import { methods } from '../protocol/methods.ts';
import type { UpstreamNode } from './node.ts';
import { attempt } from './retry/attempt.ts';

/** Genesis hashes of the public networks. Source: Agave clusters, `getGenesisHash`. */
export const genesisHashes: Readonly<Record<Network, string>> = {
  'mainnet-beta': '5eykt4UsFv8P8NJdTREpY1vzqKqZKvdpKuc147dw2N9d',
  devnet: 'EtWTRABZaYq6iMfeYKouRu166VU2xqa1wcaWoxkrZBG',
  testnet: '4uhcVJyU9pJkvQyS88uRDiswHXSckY9JqEQoD8X6vWeX',
};

const QUOTED_HASH = /^"([1-9A-HJ-NP-Za-km-z]{32,44})"$/;

/** What asks which chain a network is. */
export const genesisCall = (network: Network): Call => ({
  ...{ network, method: 'getGenesisHash', row: methods.getGenesisHash, params: null },
});

/** The hash that an answer to it gives; null when it gives none. */
export const parseGenesisHash = ({ body, errorCode }: RpcResponse): string | null =>
  errorCode === 0 ? (QUOTED_HASH.exec(body.toString('latin1'))?.[1] ?? null) : null;

/** What the nodes of a network that told their genesis agree on; null when that is nothing. */
function majorityChain(hashes: readonly string[], wellKnown: string): string | null {
  const winner = hashes.find((hash) => supporters(hashes, hash) * 2 > hashes.length);
  return winner ?? (hashes.includes(wellKnown) ? wellKnown : null);
}

const supporters = (hashes: readonly string[], hash: string): number =>
  hashes.filter((other) => other === hash).length;

/**
 * The genesis of the chain that a network's nodes belong to: that of more than half of them, else the one the
 * network is known for when a node has it, else that of the largest group, and of equal ones that of the node
 * that is configured first: two chains must not answer as one. Whatever all agree on is right: a private chain
 * under a known name.
 * @param hashes - one for each node that told its own, in the order of the configuration.
 * @returns null when there is none.
 */
export function selectChain(hashes: readonly string[], wellKnown: string): string | null {
  const most = Math.max(...hashes.map((hash) => supporters(hashes, hash)));
  return majorityChain(hashes, wellKnown) ?? hashes.find((hash) => supporters(hashes, hash) === most) ?? null;
}

/**
 * Marks the nodes that belong to another chain than their network. Nodes that told nothing are believed.
 * @returns the names of the nodes by genesis hash, when they agree on nothing; else null.
 */
export function markWrongChains(
  nodes: readonly UpstreamNode[],
  network: Network,
): Map<string, string[]> | null {
  const hashes = nodes.map(({ genesisHash }) => genesisHash).filter((hash) => hash !== null);
  const wellKnown = genesisHashes[network];
  const selected = selectChain(hashes, wellKnown);
  for (const node of nodes) {
    node.wrongChain = selected !== null && node.genesisHash !== null && node.genesisHash !== selected;
  }
  if (selected === null || majorityChain(hashes, wellKnown) !== null) return null;
  const names = (hash: string): string[] =>
    nodes.filter(({ genesisHash }) => genesisHash === hash).map(({ name }) => name);
  return new Map(hashes.map((hash) => [hash, names(hash)]));
}

/**
 * Asks a node for its genesis, unless it has answered that before, be it with a refusal: a chain's genesis
 * does not change.
 */
export async function fetchGenesis(
  node: UpstreamNode,
  timeoutMs: number,
  signal: AbortSignal,
): Promise<void> {
  if (node.isGenesisFetched) return;
  const { outcome } = await attempt(node, genesisCall(node.network), timeoutMs, signal);
  const throttled = outcome.kind === 'status' && outcome.status === 429;
  // Who does not offer this method, or not to us, may be a good node for all others.
  if (throttled) node.recordOutcome(outcome, null);
  else node.circuit.release();
  node.isGenesisFetched = !throttled && outcome.kind !== 'transport' && outcome.kind !== 'aborted';
  if (outcome.kind === 'answer') node.genesisHash = parseGenesisHash(outcome.response);
}
