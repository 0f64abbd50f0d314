import { join } from 'node:path';
import type { Keys } from '../rpc/keys.ts';
import { type Server, startGateway } from '../rpc/servers.ts';
import { type LoadOptions, load, writeLoadScript } from '../rpc/wrk.ts';
import { type CallsBySlot, SlotNode } from './slot-node.ts';

/** Clients, each with its own connection. */
export const CLIENTS = 1_000;

/** Calls that clients repeat to follow the chain, and one popular account. */
const methodParams: Readonly<Record<string, string>> = {
  getSlot: '[]',
  getBlockHeight: '[]',
  getTransactionCount: '[]',
  getSlotLeader: '[]',
  getLatestBlockhash: '[]',
  getEpochInfo: '[]',
  getAccountInfo: '["So11111111111111111111111111111111111111112",{"encoding":"base64"}]',
};

/** Calls that reached the node while a thousand clients sent the same call. */
export type Counted = Readonly<{
  method: string;
  requests: number;
  /** Slots of the node during the load. */
  slots: number;
  /** Without the gateway's own polls, which have a commitment. */
  calls: number;
  mostInOneSlot: number;
}>;

function since(calls: CallsBySlot, first: number): number[] {
  return [...calls].flatMap(([slot, count]) => (slot >= first ? [count] : []));
}

async function count(
  node: SlotNode,
  gateway: Server,
  { file, method, params }: Omit<LoadOptions, 'keys'>,
  keys: Keys,
  seconds: number,
): Promise<Counted> {
  const script = writeLoadScript({ file, keys: keys.secrets, method, params });
  const first = node.slot;
  const { requests } = await load(script, gateway, { connections: CLIENTS, seconds });
  const counts = since(node.callsOf(method, params), first);
  return {
    method,
    requests,
    slots: node.slot - first + 1,
    calls: counts.reduce((sum, one) => sum + one, 0),
    mostInOneSlot: Math.max(0, ...counts),
  };
}

export const isOncePerSlot = ({ calls, slots }: Counted): boolean => calls <= slots;

/** Counts the calls by slot that reach a node behind a gateway with a thousand clients. */
export async function countHeadMethods(dir: string, keys: Keys, seconds: number): Promise<Counted[]> {
  const node = new SlotNode();
  try {
    const nodePort = await node.listen();
    const gateway = await startGateway('solway', { dir, nodePort, keys }, { usesCache: true });
    const counted: Counted[] = [];
    for (const [method, params] of Object.entries(methodParams)) {
      const file = join(dir, `${method}.lua`);
      counted.push(await count(node, gateway, { file, method, params }, keys, seconds));
    }
    return counted;
  } finally {
    node.close();
  }
}
