import { join } from 'node:path';
import type { Keys } from '../rpc/keys.ts';
import { type Server, startGateway } from '../rpc/servers.ts';
import { type LoadOptions, load, writeLoadScript } from '../rpc/wrk.ts';
import { type CallsBySlot, SlotNode } from './slot-node.ts';

/** Clients of the count, each on a connection of its own. */
export const CLIENTS = 1_000;

/** What clients ask again and again to know where the chain is; and one account that all of them want. */
const methodParams: Readonly<Record<string, string>> = {
  getSlot: '[]',
  getBlockHeight: '[]',
  getTransactionCount: '[]',
  getSlotLeader: '[]',
  getLatestBlockhash: '[]',
  getEpochInfo: '[]',
  getAccountInfo: '["So11111111111111111111111111111111111111112",{"encoding":"base64"}]',
};

/** What reached the node while a thousand clients asked it the same. */
export type Counted = Readonly<{
  method: string;
  requests: number;
  /** Slots of the node that began while they asked, and the one that they began in. */
  slots: number;
  /** Without the gateway's own looks at its node, which name a commitment. */
  calls: number;
  /** The most of one slot. */
  mostInOneSlot: number;
}>;

/** Calls from a slot on. */
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

/** Whether no more than one call a slot reached the node. */
export const isOncePerSlot = ({ calls, slots }: Counted): boolean => calls <= slots;

/** How many calls of each method reach a node, by slot, for a thousand clients of a gateway in front of it. */
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
