import type { JsonValue } from '../../../../src/base/json.ts';
import { noParameters } from '../../../../src/protocol/rpc/parameters.ts';
import type { Address } from '../../../../src/solana/address.ts';
import { shredVersion } from '../genesis/shred-version.ts';
import type { LocalNode } from '../node.ts';
import { FEATURE_SET, VERSION } from '../version.ts';

/** The nodes seen in gossip. */
type GetClusterNodesResult = readonly Readonly<{
  clientId: string | null;
  featureSet: number | null;
  /** "ip:port", here and below; null where the service is not offered. */
  gossip: string | null;
  pubkey: Address;
  pubsub: string | null;
  rpc: string | null;
  serveRepair: string | null;
  shredVersion: number | null;
  tpu: string | null;
  tpuForwards: string | null;
  tpuForwardsQuic: string | null;
  tpuQuic: string | null;
  tpuVote: string | null;
  tvu: string | null;
  version: string | null;
}>[];

/** The only node; its UDP ports do not respond. */
export function getClusterNodes(node: LocalNode, params: JsonValue | undefined): GetClusterNodesResult {
  noParameters(params);
  const { genesis, contact } = node;
  return [
    {
      clientId: 'Agave',
      featureSet: FEATURE_SET,
      gossip: contact?.gossip ?? null,
      pubkey: genesis.identity,
      pubsub: contact?.pubsub ?? null,
      rpc: contact?.rpc ?? null,
      serveRepair: contact?.serveRepair ?? null,
      shredVersion: shredVersion(genesis.hash),
      tpu: null,
      tpuForwards: null,
      tpuForwardsQuic: contact?.tpuForwardsQuic ?? null,
      tpuQuic: contact?.tpuQuic ?? null,
      tpuVote: contact?.tpuVote ?? null,
      tvu: contact?.tvu ?? null,
      version: VERSION,
    },
  ];
}
