import { z } from 'zod';
import { endpoint } from '../endpoint.ts';
import { newPassword } from '../semi_wallet/semi-wallet-fields.ts';

/** Source: spec, "REST"; rest-api.md §2.9. */
export const createSemiWallet = endpoint({
  verb: 'POST',
  paths: ['/sol/v1/wallet/create_semi_wallet', '/sol/v1/semi_wallet/create'],
  group: 'wallet',
  name: 'wallet/create_semi_wallet',
  summary: 'A new semi-custodial wallet',
  description:
    'Makes a keypair and keeps its secret half encrypted under the password. The password is not kept: ' +
    'who loses it has lost the wallet.',
  from: 'body',
  holdsSecrets: true,
  failures: ['WALLETS_FULL'],
  fields: z.object({ password: newPassword('What encrypts the secret key.') }),
  result: z.object({ wallet_address: z.string().meta({ description: 'Its public key, base58.' }) }),
  async answer({ password }, { services, caller }) {
    const wallet = await services.semiWallets.create(caller.ownerId, password);
    return { message: 'Semi custodial wallet created successfully', result: { wallet_address: wallet } };
  },
});
