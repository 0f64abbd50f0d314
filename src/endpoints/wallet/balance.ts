import { z } from 'zod';
import { solOf } from '../../insight/amounts.ts';
import { objectOf, u64Of } from '../../ledger/encoding/read-json.ts';
import { endpoint } from '../endpoint.ts';
import { address, commitment, network } from '../fields.ts';

/** Source: spec, "REST"; rest-api.md §2.1. */
export const balance = endpoint({
  verb: 'GET',
  paths: ['/sol/v1/wallet/balance'],
  group: 'wallet',
  name: 'wallet/balance',
  summary: 'Balance of a wallet in SOL',
  from: 'query',
  fields: z.object({ network: network(), wallet: address('The wallet.'), commitment: commitment() }),
  result: z.object({ balance: z.number().meta({ description: 'SOL, not lamports.' }) }),
  async answer({ wallet, ...read }, { chain }) {
    const config = { commitment: read.commitment };
    const lamports = await chain(read.network).read('getBalance', [wallet, config], (result) =>
      u64Of(objectOf(result, 'getBalance').value, 'lamports'),
    );
    return { message: 'Balance fetched successfully', result: { balance: solOf(lamports) } };
  },
});
