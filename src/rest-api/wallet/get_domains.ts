import { z } from 'zod';
import { hasDomains, ownedDomains } from '../../decoding/sns/domains.ts';
import { chainFailures, endpoint } from '../endpoint.ts';
import { address, commitment, flag, network } from '../fields.ts';

/** Source: rest-api.md §2.4 and §4, "SNS". */
export const getDomains = endpoint('GET wallet/get_domains', {
  summary: 'List the Solana Name Service domains of a wallet',
  description:
    'Top-level domains, including those wrapped as NFTs, sorted by name. The name ' +
    'service is on mainnet-beta only; on other networks the list is empty.\n\n' +
    'The name service has called its domains `.sns` since finalized slot 452,825,395, and `.sol` before. Accounts ' +
    'and owners are the same; the operator configures which suffix ' +
    'responses use (default `.sol`, which clients expect). `.sol` will become the ' +
    'suffix of another registry, which is not supported: no client resolves names with it yet.',
  from: 'query',
  failures: chainFailures,
  fields: z.object({
    network: network(),
    wallet: address('The wallet.'),
    commitment: commitment(),
    refresh: flag('Ignored: the chain is read each time.'),
  }),
  result: z.array(
    z.object({
      address: z.string().meta({ description: 'Name account.' }),
      name: z.string().meta({ description: 'With the suffix.' }),
    }),
  ),
  async handle({ wallet, ...read }, { chain, services }) {
    const reader = chain(read);
    const domains = hasDomains(reader) ? await ownedDomains(reader, wallet) : [];
    const { domainSuffix } = services.settings;
    return {
      message: `${domains.length} domains fetched successfully`,
      result: domains.map((domain) => ({ address: domain.address, name: `${domain.name}${domainSuffix}` })),
    };
  },
});
