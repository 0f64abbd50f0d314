import { z } from 'zod';
import { hasDomains, nameOfAddress } from '../../decoding/sns/domains.ts';
import { Failure } from '../../protocol/errors.ts';
import { InvalidFields } from '../../protocol/rest/invalid-fields.ts';
import type { Address } from '../../solana/address.ts';
import { chainFailures, endpoint } from '../endpoint.ts';
import { address, commitment, network, optional } from '../fields.ts';

const missing = { field: 'wallet', message: 'is missing: send an address in base58' };

/** Source: rest-api.md §2.5 and §4, "SNS". */
export const resolveAddress = endpoint('GET wallet/resolve_address', {
  summary: 'Get the domain of an address',
  description:
    'For a name account, its own name. For a wallet, its primary domain if it still ' +
    'owns it, else the first of its domains by name. Without a domain the response is 404 ' +
    '`DOMAIN_NOT_FOUND`, as always on networks other than mainnet-beta.\n\n' +
    'The operator configures the suffix (default `.sol`). The name service has called domains ' +
    '`.sns` since finalized slot 452,825,395; see wallet/get_domains.',
  from: 'query',
  failures: ['DOMAIN_NOT_FOUND', ...chainFailures],
  fields: z.object({
    network: network(),
    address: optional(address('Name account or wallet; takes precedence over `wallet`.')),
    wallet: optional(address('Alias of `address`; one of the two is required.')),
    commitment: commitment(),
  }),
  result: z.object({ name: z.string().meta({ description: 'With the suffix.' }) }),
  async handle({ address: first, wallet, ...read }, { chain, services }) {
    const target: Address | undefined = first ?? wallet;
    if (target === undefined) throw new InvalidFields([missing]);
    const reader = chain(read);
    const found = hasDomains(reader) ? await nameOfAddress(reader, target) : null;
    if (found === null) throw new Failure('DOMAIN_NOT_FOUND', { facts: { address: target } });
    const { domainSuffix } = services.settings;
    return { message: 'Address resolved successfully', result: { name: `${found}${domainSuffix}` } };
  },
});
