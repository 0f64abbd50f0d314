import { z } from 'zod';
import { hasDomains, nameOfAddress } from '../../decoding/sns/domains.ts';
import { Failure } from '../../protocol/errors.ts';
import { InvalidFields } from '../../protocol/rest/invalid-fields.ts';
import type { Address } from '../../solana/address.ts';
import { endpoint } from '../endpoint.ts';
import { ofChain } from '../failures.ts';
import { address, commitment, network, optional } from '../fields.ts';

const missing = { field: 'wallet', message: 'is missing: send an address in base58' };

/** Source: spec, "REST"; rest-api.md §2.5 and §4, "SNS". */
export const resolveAddress = endpoint({
  verb: 'GET',
  paths: ['/sol/v1/wallet/resolve_address'],
  group: 'wallet',
  name: 'wallet/resolve_address',
  summary: 'The domain that an address goes by',
  description:
    'A name account has its own name. A wallet has the domain that it chose as its primary one, as long as it still ' +
    'owns it; else the first of its domains in the order of their names. Where there is none the answer is 404 ' +
    '`DOMAIN_NOT_FOUND`; the name service is on mainnet-beta, so on other networks there never is one.\n\n' +
    'Names end as the operator of this service chose: `.sol`, unless told otherwise. The name service itself calls ' +
    'them `.sns` since finalized slot 452,825,395; see wallet/get_domains.',
  from: 'query',
  failures: ['DOMAIN_NOT_FOUND', ...ofChain],
  fields: z.object({
    network: network(),
    address: optional(address('A name account or a wallet; it wins over `wallet`.')),
    wallet: optional(address('The same; one of the two has to be there.')),
    commitment: commitment(),
  }),
  result: z.object({ name: z.string().meta({ description: 'With its ending.' }) }),
  async answer({ address: first, wallet, ...read }, { chain, services }) {
    const target: Address | undefined = first ?? wallet;
    if (target === undefined) throw new InvalidFields([missing]);
    const reader = chain(read.network, read.commitment);
    const found = hasDomains(reader) ? await nameOfAddress(reader, target) : null;
    if (found === null) throw new Failure('DOMAIN_NOT_FOUND', { facts: { address: target } });
    const { domainSuffix } = services.settings;
    return { message: 'Address resolved successfully', result: { name: `${found}${domainSuffix}` } };
  },
});
