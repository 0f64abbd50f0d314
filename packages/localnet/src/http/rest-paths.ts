import type { IncomingHttpHeaders } from 'node:http';
import { LAMPORTS_PER_SOL } from '../../../../src/solana/units.ts';
import type { LocalNode } from '../node.ts';
import { nonCirculatingSupply } from '../rpc/non-circulating-accounts.ts';

/** Transport-level response. Texts of jsonrpc-http-server 18 `response.rs`. */
export type PlainResponse = Readonly<{ status: number; text: string }>;

export const METHOD_NOT_ALLOWED: PlainResponse = {
  status: 405,
  text: 'Used HTTP Method is not allowed. POST or OPTIONS is required\n',
};

export const UNSUPPORTED_CONTENT_TYPE: PlainResponse = {
  status: 415,
  text: 'Supplied content type is not allowed. Content-Type: application/json is required\n',
};

export const ORIGIN_NOT_ALLOWED: PlainResponse = {
  status: 403,
  text: 'Origin of the request is not whitelisted. CORS headers would not be sent and any side-effects were cancelled as well.\n',
};

export const BODY_TOO_LARGE: PlainResponse = {
  status: 413,
  text: 'request body size exceeds allowed maximum',
};

/** Length of the valid UTF-8 prefix. */
function validPrefixBytes(body: Uint8Array): number {
  let valid = 0;
  for (let low = 0, high = body.length; low <= high; ) {
    const middle = (low + high) >>> 1;
    try {
      const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
      valid = Buffer.byteLength(decoder.decode(body.subarray(0, middle), { stream: true }));
      low = middle + 1;
    } catch {
      high = middle - 1;
    }
  }
  return valid;
}

/** Rejects a body that is not UTF-8, with the position. */
export const bodyNotUtf8 = (body: Uint8Array): PlainResponse => ({
  status: 400,
  text: `utf-8 encoding error at byte ${validPrefixBytes(body)} in request body`,
});

/** SOL without trailing zeros. Source: Agave cli-output `build_balance_message`. */
function sol(lamports: bigint): string {
  const fraction = (lamports % LAMPORTS_PER_SOL).toString().padStart(9, '0').replace(/0+$/, '');
  const whole = lamports / LAMPORTS_PER_SOL;
  return fraction === '' ? `${whole}` : `${whole}.${fraction}`;
}

const ok = (text: string): PlainResponse => ({ status: 200, text });

/** Agave's response for a missing file. */
const NOT_FOUND: PlainResponse = { status: 404, text: '' };

/** Paths of genesis and snapshot archives. Those of the newest have no slot in their name. */
const ARCHIVE = /^\/(genesis|(incremental-)?snapshot(-[^/]*)?)\.tar(\.(bz2|gz|lz4|zst))?$/;

/**
 * Serves Agave's paths outside of JSON-RPC, for any HTTP method; null for other paths. Archives are not found,
 * because the ledger has its own formats. Source: Agave rpc/src/rpc_service.rs, `RpcRequestMiddleware`.
 * @param url - request target with query.
 */
export function plainPath(url: string, node: LocalNode): PlainResponse | null {
  const [path = ''] = url.split('?', 1);
  switch (path) {
    case '/health':
      return ok(node.failure ? 'unknown' : 'ok');
    case '/v0/circulating-supply': {
      const bank = node.bank('finalized');
      return ok(sol(bank.capitalization - nonCirculatingSupply(bank).lamports));
    }
    case '/v0/total-supply':
      return ok(sol(node.bank('finalized').capitalization));
    default:
      return ARCHIVE.test(path) ? NOT_FOUND : null;
  }
}

/**
 * Decision for the `Origin` of a request: rejected, or the CORS headers of the response. Any origin is allowed, but
 * the literal origin `null` is rejected, and requests from the same host get no headers. Source:
 * jsonrpc-server-utils 18 `cors.rs`.
 */
type CorsDecision = 'rejected' | Readonly<Record<string, string>>;

const MAX_AGE_SECONDS = 86_400;
export const ALLOWED_METHODS = 'OPTIONS, POST';

/** null for an invalid origin. */
const hostOf = (origin: string): string | null => (URL.canParse(origin) ? new URL(origin).host : null);

export function decideCors(headers: IncomingHttpHeaders): CorsDecision {
  const { origin, host } = headers;
  if (origin === undefined || (host !== undefined && hostOf(origin) === host)) return {};
  if (origin === 'null') return 'rejected';
  const requested = headers['access-control-request-headers'];
  return {
    'access-control-allow-methods': ALLOWED_METHODS,
    'access-control-allow-origin': origin,
    'access-control-max-age': String(MAX_AGE_SECONDS),
    ...(requested === undefined ? {} : { 'access-control-allow-headers': requested }),
    vary: 'origin',
  };
}
