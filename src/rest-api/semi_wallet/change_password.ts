import { z } from 'zod';
import { endpoint } from '../endpoint.ts';
import { address } from '../fields.ts';
import { newPassword, noSuchWallet, password } from './semi-wallet-fields.ts';

/** Source: rest-api.md §2.10, §2.23; the interface's official client. */
export const changePassword = endpoint({
  verb: 'POST',
  paths: ['/sol/v1/semi_wallet/change_password'],
  group: 'wallet',
  name: 'semi_wallet/change_password',
  summary: 'Another password for a semi-custodial wallet',
  from: 'body',
  holdsSecrets: true,
  failures: ['WRONG_PASSWORD', 'TOO_MANY_TRIES'],
  fields: z.object({
    wallet: address('The wallet.'),
    current_password: password('What it is encrypted under.'),
    new_password: newPassword('What is to encrypt it.'),
  }),
  result: z.object({ wallet: z.string().meta({ description: 'Its public key, base58.' }) }),
  async answer({ wallet, current_password: from, new_password: to }, { services, caller }) {
    const changed = await services.semiWallets.changePassword(caller.ownerId, wallet, from, to);
    if (!changed) throw noSuchWallet();
    return { message: 'Password changed successfully', result: { wallet } };
  },
});
