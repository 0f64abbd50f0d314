import { isStandardNetwork, type Network } from '../protocol/call.ts';
import { type GenesisHashes, genesisCall, parseGenesisHash } from './genesis-hash.ts';
import type { UpstreamNode } from './node.ts';
import { isThrottling } from './outcome.ts';
import { attempt } from './retry/attempt.ts';

function majorityChain(hashes: readonly string[], wellKnown: string | undefined): string | null {
  const winner = hashes.find((hash) => supporters(hashes, hash) * 2 > hashes.length);
  return winner ?? hashes.find((hash) => hash === wellKnown) ?? null;
}

const supporters = (hashes: readonly string[], hash: string): number =>
  hashes.filter((other) => other === hash).length;

/**
 * Selects the chain of a network: that of the majority of its nodes, else the well-known chain if a node is on it,
 * else that of the largest group of nodes. In a tie, the chain of the node configured first is selected.
 * @param hashes - genesis hashes reported by the nodes, in configuration order.
 */
export function selectChain(hashes: readonly string[], wellKnown: string | undefined): string | null {
  const largest = Math.max(...hashes.map((hash) => supporters(hashes, hash)));
  return (
    majorityChain(hashes, wellKnown) ?? hashes.find((hash) => supporters(hashes, hash) === largest) ?? null
  );
}

/**
 * Marks nodes that are not on the chain of their network: the configured chain of a custom network, else the selected
 * one. A node that has not reported its genesis hash is not marked.
 * @returns node names by genesis hash if no chain has a majority and no node is on the well-known chain, else null.
 */
export function markWrongChains(
  nodes: readonly UpstreamNode[],
  network: Network,
  genesisHashes: GenesisHashes,
): Map<string, string[]> | null {
  const hashes = nodes.map(({ genesisHash }) => genesisHash).filter((hash) => hash !== null);
  const wellKnown = genesisHashes.get(network);
  const required = isStandardNetwork(network) ? undefined : wellKnown;
  const selected = required ?? selectChain(hashes, wellKnown);
  for (const node of nodes) {
    node.wrongChain = selected !== null && node.genesisHash !== null && node.genesisHash !== selected;
  }
  if (selected === null || required !== undefined || majorityChain(hashes, wellKnown) !== null) return null;
  const names = (hash: string): string[] =>
    nodes.filter(({ genesisHash }) => genesisHash === hash).map(({ name }) => name);
  return new Map(hashes.map((hash) => [hash, names(hash)]));
}

/** Fetches the genesis hash once, because it never changes. An error response other than throttling is final too. */
export async function fetchGenesis(
  node: UpstreamNode,
  timeoutMs: number,
  signal: AbortSignal,
): Promise<void> {
  if (node.isGenesisFetched) return;
  const { outcome } = await attempt(node, genesisCall(node.network), timeoutMs, signal);
  node.recordOptionalPoll(outcome);
  node.isGenesisFetched =
    !isThrottling(outcome) && outcome.kind !== 'transport' && outcome.kind !== 'aborted';
  if (outcome.kind === 'response') node.genesisHash = parseGenesisHash(outcome.response);
}
