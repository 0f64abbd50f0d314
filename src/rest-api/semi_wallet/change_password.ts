import { z } from 'zod';
import { endpoint } from '../endpoint.ts';
import { address } from '../fields.ts';
import { newPassword, noSuchWallet, password } from './semi-wallet-fields.ts';

/** Source: rest-api.md §2.10, §2.23, and the official client of this API. */
export const changePassword = endpoint('POST semi_wallet/change_password', {
  summary: 'Change the password of a semi-custodial wallet',
  from: 'body',
  holdsSecrets: true,
  failures: ['WRONG_PASSWORD', 'TOO_MANY_TRIES'],
  fields: z.object({
    wallet: address('The wallet.'),
    current_password: password('Current password.'),
    new_password: newPassword('New password.'),
  }),
  result: z.object({ wallet: z.string().meta({ description: 'Public key, base58.' }) }),
  async handle({ wallet, current_password: from, new_password: to }, { services, caller }) {
    const changed = await services.semiWallets.changePassword(caller.ownerId, wallet, from, to);
    if (!changed) throw noSuchWallet();
    return { message: 'Password changed successfully', result: { wallet } };
  },
});
