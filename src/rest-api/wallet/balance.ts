import { z } from 'zod';
import { solOf } from '../../decoding/amounts.ts';
import { endpoint } from '../endpoint.ts';
import { ofChain } from '../failures.ts';
import { address, commitment, network } from '../fields.ts';
import { lamportsOf } from './lamports-of.ts';

/** Source: spec, "REST"; rest-api.md §2.1. */
export const balance = endpoint({
  verb: 'GET',
  paths: ['/sol/v1/wallet/balance'],
  group: 'wallet',
  name: 'wallet/balance',
  summary: 'Balance of a wallet in SOL',
  from: 'query',
  failures: ofChain,
  fields: z.object({ network: network(), wallet: address('The wallet.'), commitment: commitment() }),
  result: z.object({ balance: z.number().meta({ description: 'SOL, not lamports.' }) }),
  async answer({ wallet, ...read }, { chain }) {
    const lamports = await lamportsOf(chain(read.network, read.commitment), wallet);
    return { message: 'Balance fetched successfully', result: { balance: solOf(lamports) } };
  },
});
