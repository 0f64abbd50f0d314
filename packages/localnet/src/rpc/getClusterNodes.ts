import type { JsonValue } from '../../../../src/base/json.ts';
import {
  type GetClusterNodesResult,
  parseGetClusterNodes,
} from '../../../../src/protocol/rpc/getClusterNodes.ts';
import { shredVersion } from '../genesis/shred-version.ts';
import type { LocalNode } from '../node.ts';
import { FEATURE_SET, VERSION } from '../version.ts';

/** The only node; its gossip port is silent and it has no TPU. */
export function getClusterNodes(node: LocalNode, params: JsonValue | undefined): GetClusterNodesResult {
  parseGetClusterNodes(params);
  const { genesis, contact } = node;
  return [
    {
      clientId: 'Agave',
      featureSet: FEATURE_SET,
      gossip: contact?.gossip ?? null,
      pubkey: genesis.identity,
      pubsub: contact?.pubsub ?? null,
      rpc: contact?.rpc ?? null,
      serveRepair: null,
      shredVersion: shredVersion(genesis.hash),
      tpu: null,
      tpuForwards: null,
      tpuForwardsQuic: null,
      tpuQuic: null,
      tpuVote: null,
      tvu: null,
      version: VERSION,
    },
  ];
}
