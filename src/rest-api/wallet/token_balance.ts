import { z } from 'zod';
import { tokenBalanceOf } from '../../decoding/token/wallet-tokens.ts';
import { Failure } from '../../protocol/errors.ts';
import { chainFailures, endpoint } from '../endpoint.ts';
import { address, commitment, network } from '../fields.ts';
import { infoOf, nameShape } from './token-schema.ts';

/** Source: rest-api.md §2.3. */
export const tokenBalance = endpoint('GET wallet/token_balance', {
  summary: 'Get the balance of one token in a wallet',
  description: 'Sum over all its token accounts of the mint; 0 without any.',
  from: 'query',
  failures: ['NOT_A_MINT', ...chainFailures],
  fields: z.object({
    network: network(),
    commitment: commitment(),
    wallet: address('The wallet.'),
    token: address('The mint.'),
  }),
  result: z.object({
    address: z.string().meta({ description: 'The mint.' }),
    balance: z.number().meta({ description: 'In whole tokens.', examples: [76.6726] }),
    associated_account: z.string().meta({
      description: 'Associated token account, unless only other accounts hold the token.',
    }),
    info: z.object(nameShape),
    isFrozen: z.boolean().meta({ description: 'Whether that account is frozen.' }),
  }),
  async handle({ wallet, token, ...read }, { chain, services }) {
    const found = await tokenBalanceOf(chain(read), wallet, token, services);
    if (found === null) throw new Failure('NOT_A_MINT', { facts: { address: token, network: read.network } });
    return {
      message: 'Token balance fetched successfully',
      result: {
        ...{ address: token, balance: found.balance, associated_account: found.account },
        ...{ info: infoOf(found.name), isFrozen: found.isFrozen },
      },
    };
  },
});
