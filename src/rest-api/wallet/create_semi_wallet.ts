import { z } from 'zod';
import { endpoint } from '../endpoint.ts';
import { newPassword } from '../semi_wallet/semi-wallet-fields.ts';

/** Source: rest-api.md §2.9. */
export const createSemiWallet = endpoint({
  verb: 'POST',
  paths: ['/sol/v1/wallet/create_semi_wallet', '/sol/v1/semi_wallet/create'],
  group: 'wallet',
  name: 'wallet/create_semi_wallet',
  summary: 'Create a semi-custodial wallet',
  description:
    'Generates a keypair and stores its secret key encrypted with the password. The password is not stored: ' +
    'without it the wallet is lost.',
  from: 'body',
  holdsSecrets: true,
  failures: ['WALLETS_FULL'],
  fields: z.object({ password: newPassword('Password that encrypts the secret key.') }),
  result: z.object({ wallet_address: z.string().meta({ description: 'Public key, base58.' }) }),
  async handle({ password }, { services, caller }) {
    const wallet = await services.semiWallets.create(caller.ownerId, password);
    return { message: 'Semi custodial wallet created successfully', result: { wallet_address: wallet } };
  },
});
