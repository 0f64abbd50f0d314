import type { FailureCode } from '../protocol/errors.ts';
import type { Endpoint } from './endpoint.ts';

/** What any endpoint may fail with: the key and its rules, the limits, the time of the request. */
const ofAll: readonly FailureCode[] = [
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

const ofBody: Readonly<Record<Endpoint['from'], readonly FailureCode[]>> = {
  query: [],
  body: ['UNSUPPORTED_MEDIA_TYPE', 'BODY_TOO_LARGE', 'REQUEST_TIMEOUT'],
  either: ['UNSUPPORTED_MEDIA_TYPE', 'BODY_TOO_LARGE', 'REQUEST_TIMEOUT'],
  upload: ['MALFORMED_MULTIPART', 'REQUEST_TIMEOUT'],
};

/** What an endpoint may fail with that asks nodes. */
export const ofChain: readonly FailureCode[] = [
  'NETWORK_NOT_SERVED',
  'UPSTREAM_UNAVAILABLE',
  'ANSWER_TOO_LARGE',
];

/** What an endpoint may fail with that stores a file. */
export const ofStorage: readonly FailureCode[] = ['FILE_TOO_LARGE', 'STORAGE_FULL', 'STORAGE_UNAVAILABLE'];

/** Everything that an endpoint may fail with, its own failures first. */
export const failuresOf = ({ failures, from }: Endpoint): readonly FailureCode[] => [
  ...new Set([...failures, ...ofBody[from], ...ofAll]),
];
