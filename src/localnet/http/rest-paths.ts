import { LAMPORTS_PER_SOL } from '../../solana/units.ts';
import type { LocalNode } from '../node.ts';
import { nonCirculatingSupply } from '../rpc/non-circulating-supply.ts';
import type { PlainAnswer } from './rest-responses.ts';

/** Lamports as SOL without trailing zeros. Source: Agave cli-output `build_balance_message`. */
function sol(lamports: bigint): string {
  const fraction = (lamports % LAMPORTS_PER_SOL).toString().padStart(9, '0').replace(/0+$/, '');
  const whole = lamports / LAMPORTS_PER_SOL;
  return fraction === '' ? `${whole}` : `${whole}.${fraction}`;
}

const ok = (text: string): PlainAnswer => ({ status: 200, text });

/** What Agave answers for a file that it has not. */
const NOT_FOUND: PlainAnswer = { status: 404, text: '' };

/** Where a node offers its genesis and its snapshots, the newest under a name without slot. */
const ARCHIVE = /^\/(genesis|(incremental-)?snapshot(-[^/]*)?)\.tar(\.(bz2|gz|lz4|zst))?$/;

/**
 * What Agave answers on its few paths outside JSON-RPC, whatever the verb; null for every other path. The ledger
 * keeps its genesis and snapshots in a form of its own, so there are no archives of them. Source: Agave
 * rpc/src/rpc_service.rs, `RpcRequestMiddleware`.
 * @param url - the request target, with its query.
 */
export function plainPath(url: string, node: LocalNode): PlainAnswer | null {
  const [path = ''] = url.split('?', 1);
  switch (path) {
    case '/health':
      return ok(node.failure ? 'unknown' : 'ok');
    case '/v0/circulating-supply': {
      const bank = node.bank('finalized');
      return ok(sol(bank.capitalization - nonCirculatingSupply(bank).lamports));
    }
    case '/v0/total-supply':
      return ok(sol(node.bank('finalized').capitalization));
    default:
      return ARCHIVE.test(path) ? NOT_FOUND : null;
  }
}
