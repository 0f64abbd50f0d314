import { z } from 'zod';
import { Chain } from '../decoding/chain/chain.ts';
import type { NftDas } from '../decoding/nft/nft.ts';
import type { Network } from '../protocol/call.ts';
import type { Commitment } from '../protocol/commitment.ts';
import type { FailureCode } from '../protocol/errors.ts';
import type { EndpointName } from '../protocol/rest/endpoint-names.ts';
import {
  type EndpointGroup,
  groupOfPath,
  type RestCaller,
  type RestVerb,
  type Upload,
} from '../protocol/rest/route.ts';
import { network } from './fields.ts';
import type { Services } from './services.ts';

export type Context = Readonly<{
  caller: RestCaller;
  services: Services;
  chain(read: Readonly<{ network: Network; commitment?: Commitment }>): Chain;
  file: Upload | null;
}>;

/** Declaration of a REST endpoint. Its route, validation and OpenAPI operation are derived from the declaration. */
export type Endpoint<Fields extends z.ZodType = z.ZodType, Result extends z.ZodType = z.ZodType> = Readonly<{
  verb: RestVerb;
  /** Documented path first, then aliases. */
  paths: readonly [string, ...string[]];
  group: EndpointGroup;
  name: EndpointName;
  summary: string;
  description?: string;
  /** `either`: query string or JSON body, even with GET; the body takes precedence. `upload`: multipart body. */
  from: 'query' | 'body' | 'either' | 'upload';
  holdsSecrets?: true;
  failures: readonly FailureCode[];
  /** Object schema, built from the schemas in fields.ts. */
  fields: Fields;
  result: Result;
  handle(
    fields: z.output<Fields>,
    context: Context,
  ): Promise<Readonly<{ message: string; result: z.input<Result> }>>;
}>;

type Declared<Fields extends z.ZodType, Result extends z.ZodType> = Partial<Pick<Endpoint, 'paths'>> &
  Omit<Endpoint<Fields, Result>, 'verb' | 'name' | 'group' | 'paths'>;

/** @param declared - `paths` defaults to `/sol/v1/<name>`. */
export const endpoint = <Fields extends z.ZodType, Result extends z.ZodType>(
  verbAndName: `${RestVerb} ${EndpointName}`,
  declared: Declared<Fields, Result>,
): Endpoint => {
  const [verb, name] = verbAndName.split(' ') as [RestVerb, EndpointName];
  const paths = declared.paths ?? ([`/sol/v1/${name}`] as const);
  const group = groupOfPath(paths[0]) as EndpointGroup;
  return { ...(declared as unknown as Endpoint), verb, name, paths, group };
};

/** Lets the field `network`, if the endpoint has one, name any of these networks. */
export const withNetworks = (declared: Endpoint, names: readonly Network[]): Endpoint =>
  declared.fields instanceof z.ZodObject && 'network' in declared.fields.shape
    ? { ...declared, fields: declared.fields.extend({ network: network(names) }) }
    : declared;

/** Counts calls to the DAS server like calls to a node. */
const countedDas = (caller: RestCaller, services: Services): NftDas => ({
  has: (network) => services.das.has(network),
  request: (...args) => {
    caller.countCall?.();
    return services.das.request(...args);
  },
});

export const contextOf = (caller: RestCaller, services: Services, file: Upload | null): Context => ({
  caller,
  services: { ...services, das: countedDas(caller, services) },
  chain: ({ network, commitment }) => new Chain(network, caller, commitment),
  file,
});

const commonFailures: readonly FailureCode[] = [
  'INVALID_FIELDS',
  'MISSING_KEY',
  'INVALID_KEY',
  'UNAUTHORIZED_PRODUCT',
  'NETWORK_FORBIDDEN',
  'ADDRESS_FORBIDDEN',
  'ORIGIN_FORBIDDEN',
  'METHOD_FORBIDDEN',
  'TOO_MANY_WRONG_KEYS',
  'QUOTA_EXCEEDED',
  'RATE_LIMITED',
  'KEYS_UNAVAILABLE',
  'OVERLOADED',
  'UPSTREAM_TIMEOUT',
  'INTERNAL',
];

const bodyFailures: Readonly<Record<Endpoint['from'], readonly FailureCode[]>> = {
  query: [],
  body: ['UNSUPPORTED_MEDIA_TYPE', 'BODY_TOO_LARGE', 'REQUEST_TIMEOUT'],
  either: ['UNSUPPORTED_MEDIA_TYPE', 'BODY_TOO_LARGE', 'REQUEST_TIMEOUT'],
  upload: ['MALFORMED_MULTIPART', 'REQUEST_TIMEOUT'],
};

export const chainFailures: readonly FailureCode[] = [
  'NETWORK_NOT_SERVED',
  'UPSTREAM_UNAVAILABLE',
  'ANSWER_TOO_LARGE',
];

export const storageFailures: readonly FailureCode[] = [
  'FILE_TOO_LARGE',
  'STORAGE_FULL',
  'STORAGE_UNAVAILABLE',
];

export const failuresOf = ({ failures, from }: Endpoint): readonly FailureCode[] => [
  ...new Set([...failures, ...bodyFailures[from], ...commonFailures]),
];
