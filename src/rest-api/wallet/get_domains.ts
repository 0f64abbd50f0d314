import { z } from 'zod';
import { hasDomains, ownedDomains } from '../../decoding/sns/domains.ts';
import { endpoint } from '../endpoint.ts';
import { ofChain } from '../failures.ts';
import { address, commitment, flag, network } from '../fields.ts';

/** Source: spec, "REST"; rest-api.md §2.4 and §4, "SNS". */
export const getDomains = endpoint({
  verb: 'GET',
  paths: ['/sol/v1/wallet/get_domains'],
  group: 'wallet',
  name: 'wallet/get_domains',
  summary: 'Domains of the Solana Name Service that a wallet owns',
  description:
    'Domains of the first level, also those that are NFTs in the wallet, in the order of their names. The name ' +
    'service is on mainnet-beta: for other networks the list is empty.\n\n' +
    'The name service calls its domains `.sns` since finalized slot 452,825,395 and `.sol` before. They are the same ' +
    'accounts with the same owners: only the ending differs, and the operator of this service chooses the one that ' +
    'answers show (`.sol` unless told otherwise, as clients of this interface expect it). `.sol` is to become the ' +
    'ending of another registry, which is not read here: no client resolves names by it yet.',
  from: 'query',
  failures: ofChain,
  fields: z.object({
    network: network(),
    wallet: address('The wallet.'),
    commitment: commitment(),
    refresh: flag('Taken and without effect: the chain is read each time.'),
  }),
  result: z.array(
    z.object({
      address: z.string().meta({ description: 'The name account.' }),
      name: z.string().meta({ description: 'With its ending.' }),
    }),
  ),
  async answer({ wallet, ...read }, { chain, services }) {
    const reader = chain(read.network, read.commitment);
    const domains = hasDomains(reader) ? await ownedDomains(reader, wallet) : [];
    const { domainSuffix } = services.settings;
    return {
      message: `${domains.length} domains fetched successfully`,
      result: domains.map((domain) => ({ address: domain.address, name: `${domain.name}${domainSuffix}` })),
    };
  },
});
