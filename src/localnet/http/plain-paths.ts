import { LAMPORTS_PER_SOL } from '../../ledger/units.ts';
import type { LocalNode } from '../node.ts';
import { nonCirculatingSupply } from '../rpc/non-circulating-supply.ts';

/** Lamports as SOL without trailing zeros. Source: Agave cli-output `build_balance_message`. */
function sol(lamports: bigint): string {
  const fraction = (lamports % LAMPORTS_PER_SOL).toString().padStart(9, '0').replace(/0+$/, '');
  const whole = lamports / LAMPORTS_PER_SOL;
  return fraction === '' ? `${whole}` : `${whole}.${fraction}`;
}

/**
 * The text that Agave answers on its few paths outside JSON-RPC, whatever the verb; null for every other path.
 * Source: Agave rpc/src/rpc_service.rs, `RpcRequestMiddleware`.
 * @param url - the request target, with its query.
 */
export function plainPath(url: string, node: LocalNode): string | null {
  switch (url.split('?', 1)[0]) {
    case '/health':
      return node.failure ? 'unknown' : 'ok';
    case '/v0/circulating-supply': {
      const bank = node.bank('finalized');
      return sol(bank.capitalization - nonCirculatingSupply(bank).lamports);
    }
    case '/v0/total-supply':
      return sol(node.bank('finalized').capitalization);
    default:
      return null;
  }
}
