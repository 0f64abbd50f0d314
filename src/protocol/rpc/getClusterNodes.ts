import type { JsonValue } from '../../base/json.ts';
import type { Address } from '../../solana/address.ts';
import { noParameters } from './parameters.ts';

export type GetClusterNodesParams = null;
/** The nodes seen in gossip. */
export type GetClusterNodesResult = readonly Readonly<{
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

/** No parameters. */
export function parseGetClusterNodes(params: JsonValue | undefined): GetClusterNodesParams {
  noParameters(params);
  return null;
}
